"""Packet mode against the reference results: flow by flow, link by link, with the tolerance that each case must meet."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sim.errors import FormatError, did_you_mean
from sim.formats.hpcc import read_hpcc
from sim.formats.hpcc_run import run_of
from sim.preset import PRESET_DIRECTORY
from sim.result import RawRun
from sim.simulation import Simulation
from sim.units import PS_PER_NS

REFERENCE = PRESET_DIRECTORY / "reference" / "ns3-hpcc"
SEEDS = (1, 2, 3, 4, 5)  # a run that marks at random is compared by the mean over these
# standard deviation of DCQCN's mean FCT over ten seeds of the reference, relative
SPREAD = {"S2_2to1": 0.040, "S2_8to1": 0.021, "S4": 0.007, "S7": 0.003}
SPREADS_ALLOWED = 2.0  # mean over SEEDS, in standard deviations
ONE_SEED_WITHIN = 0.06  # mean FCT with the first seed
ORDER_DECIDES = ("S7",)  # so many packets arrive in one ns that their order makes the flows
WITHIN = {"timely": (0.03, 0.05)}  # mean and last FCT where the order of simultaneous events decides
OTHERS_WITHIN = (0.02, 0.02)


@dataclass(frozen=True)
class ReferenceCase:
    """One configuration of one scenario, and what the reference simulator made of it."""

    scenario: str
    variant: str  # name of the configuration
    directory: Path
    totals: dict

    @property
    def name(self) -> str:
        """Scenario and configuration, like S2_8to1/dctcp."""
        return f"{self.scenario}/{self.variant}"

    @property
    def random(self) -> bool:
        """Whether random marks change the result: then seeds are compared, not nanoseconds."""
        return self.totals["cc"] == "dcqcn" and self.totals["ecn_marks"] > 0

    @property
    def exact(self) -> bool:
        """Whether every flow must be equal to the nanosecond."""
        return not self.random and self.scenario not in ORDER_DECIDES


def reference_cases(wanted: list[str] = (), directory: Path = REFERENCE) -> list[ReferenceCase]:
    """The cases named like S2_8to1/dctcp by `wanted`, or whose name contains it; all of them for none."""
    found = []
    for config in sorted(directory.glob("*/*.config.txt")):
        variant = config.name.removesuffix(".config.txt")
        totals = json.loads((config.parent / f"{variant}.totals.json").read_text())
        found.append(ReferenceCase(config.parent.name, variant, config.parent, totals))
    chosen = set()
    for word in wanted:
        names = {case.name for case in found}
        names = {word} if word in names else {name for name in names if word in name}
        if not names:
            known = dict.fromkeys([*(case.scenario for case in found), *(case.variant for case in found)])
            raise FormatError(f"there is no reference case {word!r}: {did_you_mean(word, known)}, or both like S4/hpcc")
        chosen |= names
    return [case for case in found if not wanted or case.name in chosen]


def simulated(case: ReferenceCase, seed: int = 1) -> RawRun:
    """The case in packet mode on the reference's clock, along its paths."""
    where = case.directory
    source = read_hpcc(
        where / "topology.txt", where / "flow.txt", where / f"{case.variant}.config.txt", where / "paths.csv"
    )
    return Simulation(run_of(source, "1ns", seed, case.name).case).run().raw


def reference_fct_ns(case: ReferenceCase, raw: RawRun) -> np.ndarray:
    """int64[F]: completion times of the reference in the order of our flows."""
    with (case.directory / f"{case.variant}.fct.csv").open() as file:
        rows = {
            (int(row["src"]), int(row["dst"]), int(row["start_ns"])): int(row["fct_ns"]) for row in csv.DictReader(file)
        }
    host, dag = raw.network.hosts, raw.dag
    columns = (host[dag.flow_src], host[dag.flow_dst], dag.start_ps // PS_PER_NS)
    return np.array([rows[key] for key in zip(*(column.tolist() for column in columns), strict=True)], np.int64)


def compared(case: ReferenceCase, raw: RawRun) -> dict:
    """Ours against the reference; errors are relative."""
    fct_ns, reference_ns = (raw.acked_ps - raw.start_ps) / PS_PER_NS, reference_fct_ns(case, raw)
    totals, counters = case.totals, raw.counters
    return {
        "scenario": case.scenario,
        "variant": case.variant,
        "controller": totals["cc"],
        "flows": len(fct_ns),
        "equal_ns": int((fct_ns == reference_ns).sum()),
        "mean_error": float(fct_ns.mean() / reference_ns.mean() - 1),
        "last_error": float(fct_ns.max() / reference_ns.max() - 1),
        "worst_flow_error": float(np.abs(fct_ns / reference_ns - 1).max()),
        "packet_hops": {"here": counters["packet_hops"], "reference": totals["packet_hops"]},
        "links_equal": links_equal(case, raw),
        "pfc_pauses": {"here": counters["pfc_pauses"], "reference": totals["pfc_pauses"]},
        "ecn_marks": {"here": counters["ecn_marks"], "reference": totals["ecn_marks"]},
        "max_queue_bytes": {"here": counters["max_queue_bytes"], "reference": totals["max_queue_bytes"]},
    }


def links_equal(case: ReferenceCase, raw: RawRun) -> bool | None:
    """Whether every link carried as many packets and bytes; None if the reference does not say."""
    if "links" not in case.totals:
        return None
    for link in case.totals["links"]:
        ports = raw.network.ports_between(link["from"], link["to"])
        if (raw.port_tx_packets[ports].sum(), raw.port_tx_bytes[ports].sum()) != (link["tx_pkts"], link["tx_bytes"]):
            return False
    return True


def validated(case: ReferenceCase) -> dict:
    """`compared` for the first seed, with what the case must meet, whether it does, and what it misses."""
    found = compared(case, simulated(case))
    missed = []
    if found["packet_hops"]["here"] != found["packet_hops"]["reference"]:
        missed.append("packet-hops differ")
    if found["links_equal"] is False:
        missed.append("link totals differ")
    if case.random:
        rule = _over_seeds(case, found, missed)
    elif case.exact:
        rule = "equal to the ns"
        if found["equal_ns"] != found["flows"]:
            missed.append(f"{found['flows'] - found['equal_ns']} flows differ")
        if found["pfc_pauses"]["here"] != found["pfc_pauses"]["reference"]:
            missed.append("pauses differ")
    else:
        limits = WITHIN.get(found["controller"], OTHERS_WITHIN)
        rule = "mean within {:.0%}, last within {:.0%}".format(*limits)
        missed += [
            f"{name} is off by {found[f'{name}_error']:+.2%}"
            for name, limit in zip(("mean", "last"), limits)
            if abs(found[f"{name}_error"]) > limit
        ]
    return {**found, "must": rule, "passed": not missed, "missed": missed}


def _over_seeds(case: ReferenceCase, found: dict, missed: list[str]) -> str:
    """The rule for random marking; puts the means of all seeds into `found` and what they miss into `missed`."""
    errors = [found["mean_error"]]
    for seed in SEEDS[1:]:
        other = compared(case, simulated(case, seed))
        errors.append(other["mean_error"])
        if other["links_equal"] is False or other["packet_hops"]["here"] != other["packet_hops"]["reference"]:
            missed.append(f"totals differ with seed {seed}")
    found["seed_mean_errors"] = errors
    found["seeds_error"] = float(np.mean(errors))
    found["reference_spread"] = spread = SPREAD.get(case.scenario)
    limit = OTHERS_WITHIN[0] if spread is None else SPREADS_ALLOWED * spread
    if abs(found["seeds_error"]) > limit:
        missed.append(f"mean over {len(SEEDS)} seeds is off by {found['seeds_error']:+.2%}")
    if abs(errors[0]) > ONE_SEED_WITHIN:
        missed.append(f"mean of seed {SEEDS[0]} is off by {errors[0]:+.2%}")
    return f"mean over {len(SEEDS)} seeds within {limit:.1%}, of one within {ONE_SEED_WITHIN:.0%}"
