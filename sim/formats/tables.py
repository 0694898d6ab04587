"""Tables that `--tables` has written, read back, and as much of a run as a trace needs from them."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd

from sim.errors import FormatError, did_you_mean
from sim.formats.text import read_bytes
from sim.result_dictionary import COLUMNS
from sim.result_tables import PORT_KINDS, kind_name
from sim.units import PS_PER_S
from sim.workload.blocks import FlowKind, TaskKind

NEEDED = ("flows", "tasks", "ports", "port_series")  # by a trace
SUFFIXES = (".csv", ".parquet")


def read_tables(directory: str | Path) -> tuple[dict[str, pd.DataFrame], dict]:
    """(tables by name, summary) of a directory; FormatError, one line, if it is not such a one."""
    directory = Path(directory)
    if not directory.is_dir():
        raise FormatError(f"{directory}: is not a directory; --tables of `python -m sim run` writes one")
    names = sorted(path.name for path in directory.iterdir())
    if "summary.json" not in names:
        raise FormatError(f"{directory}: has no summary.json: {did_you_mean('summary.json', names[:20])}")
    try:
        summary = json.loads(read_bytes(directory / "summary.json"))
    except ValueError as problem:
        raise FormatError(f"{directory / 'summary.json'}: is not JSON: {problem}") from None
    found = {}
    for table, columns in COLUMNS.items():
        path = next((directory / (table + suffix) for suffix in SUFFIXES if table + suffix in names), None)
        if path is None:
            raise FormatError(f"{directory}: {table}.csv or {table}.parquet is missing: {did_you_mean(table, names[:20])}")
        found[table] = _read(path)
        missing = next((column for column in columns if column not in found[table].columns), None)
        if missing is not None:
            raise FormatError(f"{path}: column {missing!r} is missing: {did_you_mean(missing, found[table].columns)}")
    if not isinstance(summary, dict) or not {"scenario", "status", "simulated_s"} <= summary.keys():
        raise FormatError(f"{directory / 'summary.json'}: must be a summary with scenario, status and simulated_s")
    return found, summary


def _read(path: Path) -> pd.DataFrame:
    content = io.BytesIO(read_bytes(path))
    try:
        return pd.read_parquet(content) if path.suffix == ".parquet" else pd.read_csv(content)
    except Exception as problem:  # whatever the library meets in a file that it did not write
        raise FormatError(f"{path}: cannot be read as a table: {' '.join(str(problem).split())[:120]}") from None


def as_run(tables: dict[str, pd.DataFrame], summary: dict) -> SimpleNamespace:
    """What `perfetto.trace` reads of a result, from its tables."""
    flows, tasks = tables["flows"], tables["tasks"]
    start = _ps(flows["start_s"])
    delivered = _ps(flows["delivered_s"])
    acked = np.where(flows["fct_s"].notna() & (start >= 0), start + _ps(flows["fct_s"]), -1)
    names, codes = np.unique(flows["collective"].astype(object).fillna("").astype(str), return_inverse=True)
    codes = np.where(names[codes] == "", -1, codes) if len(names) else codes
    task_start, task_end = _ps(tasks["start_s"]), _ps(tasks["end_s"])
    dag = SimpleNamespace(
        n_tasks=len(tasks), n_flows=len(flows), task_rank=tasks["rank"].to_numpy(), task_kind=_codes(tasks["kind"], TaskKind),
        task_layer=tasks["layer"].to_numpy(), task_microbatch=tasks["microbatch"].to_numpy(), task_bytes=tasks["bytes"].to_numpy(),
        task_duration_ps=np.where(task_end >= 0, task_end - task_start, 1), flow_src=flows["src"].to_numpy(), flow_dst=flows["dst"].to_numpy(),
        flow_kind=_codes(flows["kind"], FlowKind), flow_collective=codes, collective_name=tuple(names.tolist()),
        flow_step=flows["step"].to_numpy(), flow_microbatch=flows["microbatch"].to_numpy(), flow_bytes=flows["bytes"].to_numpy(),
    )  # fmt: skip
    busy = [column for column in (dag.task_rank, dag.flow_src, dag.flow_dst) if len(column)]
    dag.n_ranks = 1 + max((int(column.max()) for column in busy), default=0)
    raw = SimpleNamespace(
        dag=dag, start_ps=np.concatenate([task_start, start]), end_ps=np.concatenate([task_end, delivered]), acked_ps=acked,
        end_ps_last=round(summary["simulated_s"] * PS_PER_S), **_series(tables),
    )  # fmt: skip
    return SimpleNamespace(raw=raw, summary=summary, status=summary["status"], end_s=summary["simulated_s"], notices=summary.get("notices", []))


def _ps(seconds: pd.Series) -> np.ndarray:
    return np.where(seconds.notna(), np.rint(seconds.fillna(0).to_numpy(np.float64) * PS_PER_S), -1).astype(np.int64)


def _codes(words: pd.Series, enum) -> np.ndarray:
    code = {kind_name(kind): int(kind) for kind in enum}
    unknown = next((word for word in words.unique() if word not in code), None)
    if unknown is not None:
        raise FormatError(f"kind {unknown!r} is not known: {did_you_mean(unknown, code)}")
    return words.map(code).to_numpy(np.int64)


def _series(tables: dict[str, pd.DataFrame]) -> dict:
    """The port series on equal bins, and a network of only what a trace asks of one."""
    ports, series = tables["ports"], tables["port_series"]
    src, dst = ports["src"].to_numpy(np.int64), ports["dst"].to_numpy(np.int64)
    hosts = _hosts(ports)
    width_ps = int(_ps(series["bin_end_s"] - series["bin_start_s"]).max()) if len(series) else 1
    bin = np.rint(_ps(series["bin_start_s"]) / width_ps).astype(np.int64)
    sent = np.zeros((len(ports), 1 + int(bin.max()) if len(bin) else 0), np.int64)
    np.add.at(sent, (series["port_id"].to_numpy(np.int64), bin), series["tx_bytes"].to_numpy(np.int64))
    network = SimpleNamespace(
        n_nodes=1 + int(max(src.max(initial=-1), dst.max(initial=-1))), n_hosts=len(hosts), hosts=hosts, port_src=src,
        port_kind=ports["kind"].map({name: code for code, name in enumerate(PORT_KINDS)}).to_numpy(np.int64),
    )  # fmt: skip
    return {"network": network, "bin_ps": width_ps, "series_tx_bytes": sent}


def _hosts(ports: pd.DataFrame) -> np.ndarray:
    """Nodes that are GPUs: both ends of links between GPUs, and of a link to a switch the end with fewer links of its kind."""
    words = np.array([word.split("-") for word in ports["tier"].astype(str)]).reshape(-1, 2)
    src, dst = ports["src"].to_numpy(np.int64), ports["dst"].to_numpy(np.int64)
    both, found = (words == "GPU").all(axis=1), [np.zeros(0, np.int64)]
    found.append(src[both])
    for kind in PORT_KINDS:
        mixed = (words == "GPU").any(axis=1) & ~both & (ports["kind"] == kind).to_numpy()
        links = np.bincount(src[mixed], minlength=1 + max(src.max(initial=0), dst.max(initial=0)))
        found.append(np.where(links[src] <= links[dst], src, dst)[mixed])
    return np.unique(np.concatenate(found))
