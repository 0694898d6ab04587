"""The sections of a scenario besides the cluster and training: traffic, transport, faults, run settings."""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from sim.errors import ScenarioError
from sim.scenario_base import Part
from sim.scenario_collective import ALGORITHM_NAMES, ALGORITHMS, COLLECTIVES, check_algorithm, ranks_from

CONGESTION_CONTROLS = ("dcqcn", "hpcc", "timely", "dctcp", "swift", "none")
PATTERNS = ("incast", "ring", "permutation", "all-to-all", "collective", "flows")
MAX_COLLECTIVE_BYTES = 2**45  # times the largest group still a whole number of 64 bits
MAX_FLOW_BYTES = 2**50
MAX_START_US = 4.5e12  # 52 days: within what the kernel counts in picoseconds

Node = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value)]


def _list(meaning: str, default: object = ()) -> object:
    return Field(default, description=meaning, strict=False)


class FlowSpec(Part):
    """One message from GPU to GPU."""

    SECTION: ClassVar[str] = "traffic.flows"

    src: int = Field(description="sending GPU", ge=0)
    dst: int = Field(description="receiving GPU", ge=0)
    bytes: int = Field(description="payload bytes", ge=0, le=MAX_FLOW_BYTES)
    start_us: float = Field(0.0, description="us, start of the flow", ge=0, le=MAX_START_US)
    path: tuple[Node, ...] | None = _list("nodes from src to dst (default: ECMP)", None)
    ack_path: tuple[Node, ...] | None = _list("nodes from dst to src of the ACKs (default: ECMP)", None)


class Traffic(Part):
    """Flows without a model: a pattern over the GPUs, a collective, or a list."""

    SECTION: ClassVar[str] = "traffic"

    pattern: Literal[PATTERNS] = Field(description="who sends to whom")
    flow_bytes: int = Field(1_000_000, description="payload bytes of each flow", ge=0, le=MAX_FLOW_BYTES)
    senders: int | None = Field(None, description="senders of the incast (default: all but the receiver)", ge=1)
    receiver: int = Field(0, description="receiving GPU of the incast", ge=0)
    collective: Literal[COLLECTIVES] | None = Field(None, description="what GPUs do together (default: all-reduce)")
    algorithm: Literal[ALGORITHM_NAMES] | None = Field(None, description="how they do it (default: ring, or direct for an all-to-all)")
    collective_bytes: int = Field(
        64_000_000, description="bytes that each GPU has before, or after an all-gather, its own share included", ge=0, le=MAX_COLLECTIVE_BYTES
    )
    channels: int = Field(1, description="rings, or double trees, among which the data are split, each with a NIC of its own", ge=1, le=64)
    chunks: int = Field(1, description="parts of each message, sent one behind the other", ge=1, le=4096)
    repeat: int = Field(1, description="times that the collective is done, one after the other", ge=1, le=1000)
    ranks: Annotated[int | tuple[int, ...] | None, BeforeValidator(ranks_from)] = Field(
        None, description="GPUs that take part: how many, or a list (default: all)"
    )
    flows: tuple[FlowSpec, ...] = _list("the flows of pattern 'flows'")

    @model_validator(mode="after")
    def _algorithm_of_collective(self) -> "Traffic":
        if self.pattern == "collective":
            collective = self.collective or COLLECTIVES[0]
            self._resolve(collective=collective, algorithm=self.algorithm or ALGORITHMS[collective][0])
            check_algorithm(collective, self.algorithm, "traffic.algorithm")
        return self

    @model_validator(mode="after")
    def _flows_with_their_pattern(self) -> "Traffic":
        if (self.pattern == "flows") != bool(self.flows):
            raise ScenarioError(
                "traffic.flows is empty: pattern 'flows' needs at least one [[traffic.flows]]"
                if not self.flows
                else f"traffic.flows: {len(self.flows)} flows are listed but traffic.pattern is {self.pattern!r}; did you mean pattern 'flows'?"
            )
        return self


class Transport(Part):
    """NICs and switch queues: congestion control, packet sizes, marking, pausing, buffers."""

    SECTION: ClassVar[str] = "transport"

    congestion_control: Literal[CONGESTION_CONTROLS] = Field("dcqcn", description="how senders react")
    payload_bytes: int = Field(1000, description="B of payload in a full packet", ge=1, le=65_536)
    header_bytes: int = Field(48, description="B of headers on a data packet", ge=0, le=1024)
    ack_bytes: int = Field(60, description="B of an ACK on the wire", ge=1, le=4096)
    ack_every: int = Field(1, description="data packets per ACK", ge=1, le=1024)
    ack_priority: Literal["shared", "strict"] = Field("shared", description="ACKs in the data queue, or ahead of it")
    ecn_kmin_kb: float | None = Field(
        None, description="kB queued where marking begins (default: the controller's)", ge=0, le=1e9
    )
    ecn_kmax_kb: float | None = Field(
        None, description="kB queued from where all are marked (default: the controller's)", ge=0, le=1e9
    )
    ecn_pmax: float | None = Field(
        None, description="marking probability at ecn_kmax_kb (default: the controller's)", ge=0, le=1
    )
    ecn_reference_gbps: float = Field(
        100.0, description="Gb/s at which the thresholds hold; they scale with the link", ge=0.001, le=100_000
    )
    pfc: Literal["dynamic", "fixed", "off"] = Field(
        "dynamic", description="priority flow control: pausing upstream ports"
    )
    pfc_xoff_kb: float | None = Field(
        None, description="kB from one ingress port at which it is paused (pfc fixed)", gt=0, le=1e9
    )
    pfc_xon_kb: float | None = Field(
        None, description="kB below which it resumes (default: 3.072 kB under pfc_xoff_kb)", ge=0, le=1e9
    )
    buffer_mb: float = Field(32.0, description="MB of shared buffer in a switch", gt=0, le=1e6)
    int_telemetry: Literal["exact", "ns3"] = Field(
        "exact", description="in-band telemetry: exact, or quantised as in the HPCC simulator"
    )
    hpcc_arithmetic: Literal["fixed", "float"] | None = Field(
        None,
        description="HPCC in whole numbers as NICs compute it, or in floating point as the HPCC simulator does (default: fixed; with INT as in ns-3, float)",
    )
    window: Literal["auto", "none", "bdp"] = Field(
        "auto", description="bytes in flight: as the controller says, unlimited, or one bandwidth-delay product"
    )
    retransmit_timeout_us: float = Field(500.0, description="us without an ACK before going back", gt=0, le=1e9)
    parameters: dict[str, float] = Field({}, description="parameters of the controller, by its own names")

    @model_validator(mode="after")
    def _arithmetic_of_hpcc(self) -> "Transport":
        given, control = self.hpcc_arithmetic, self.congestion_control
        if given is not None and control != "hpcc":
            raise ScenarioError(
                f"transport.hpcc_arithmetic = {given!r}: congestion_control {control!r} has no such choice; "
                'leave the key out, or use congestion_control = "hpcc"'
            )
        if given == "fixed" and self.int_telemetry == "ns3":
            raise ScenarioError(
                "transport.hpcc_arithmetic = 'fixed': needs int_telemetry = \"exact\", for counters in units of 512 B "
                'bias it; or use hpcc_arithmetic = "float"'
            )
        if control == "hpcc" and given is None:
            self._resolve(hpcc_arithmetic="fixed" if self.int_telemetry == "exact" else "float")
        return self

    @model_validator(mode="after")
    def _thresholds_in_order(self) -> "Transport":
        kmin, kmax = self.ecn_kmin_kb, self.ecn_kmax_kb
        if kmin is not None and kmax is not None and kmin > kmax:
            raise ScenarioError(
                f"transport.ecn_kmin_kb = {kmin:g}: must be at most ecn_kmax_kb = {kmax:g}; the nearest is {kmax:g}"
            )
        if self.pfc == "fixed" and self.pfc_xoff_kb is None:
            raise ScenarioError(
                "transport.pfc_xoff_kb is missing: pfc 'fixed' needs the threshold in kB; or use pfc = \"dynamic\""
            )
        if self.pfc_xoff_kb is not None and self.pfc_xoff_kb > self.buffer_mb * 1000:
            raise ScenarioError(
                f"transport.pfc_xoff_kb = {self.pfc_xoff_kb:g}: must fit buffer_mb = {self.buffer_mb:g}; the nearest is {self.buffer_mb * 1000:g}"
            )
        if None not in (self.pfc_xoff_kb, self.pfc_xon_kb) and self.pfc_xon_kb >= self.pfc_xoff_kb:
            raise ScenarioError(
                f"transport.pfc_xon_kb = {self.pfc_xon_kb:g}: must be below pfc_xoff_kb = {self.pfc_xoff_kb:g}"
            )
        return self


class Simulation(Part):
    """How the simulation itself runs."""

    SECTION: ClassVar[str] = "simulation"

    seed: int = Field(1, description="seed of every random draw", ge=0, le=2**31 - 1)
    resolution: Literal["1ps", "1ns"] = Field("1ps", description="clock: exact, or truncated to ns as ns-3 does")
    mode: Literal["wormhole", "packet", "flow"] = Field(
        "wormhole", description="what repeats is replayed, every packet is simulated, or max-min fair rates without packets"
    )
    level: Literal["exact", "bounded", "paper"] = Field("exact", description="how mode wormhole may deviate from mode packet")
    paper_theta: float = Field(
        0.05, description="level paper: range of a flow's rate over its mean below which it is steady, 0.05 is 5 %", gt=0, le=10
    )
    paper_samples: int = Field(2000, description="level paper: samples of 1 us over which the range is taken", ge=2, le=1_000_000)
    time_limit_s: float | None = Field(
        None, description="s of simulated time after which the run stops", gt=0, le=MAX_START_US / 1e6
    )
    sample_bins: int = Field(256, description="time bins of the port curves", ge=1, le=65_536)


FAULTS = ("link-down", "link-up", "switch-down", "switch-up", "degrade", "loss")
OF_SWITCHES = ("switch-down", "switch-up")


class Fault(Part):
    """Something that happens at a time to the link between nodes a and b (both directions), or to switch a with all its links."""

    SECTION: ClassVar[str] = "faults"

    kind: Literal[FAULTS] = Field(description="what happens")
    a: Node = Field(description="one end of the link, or the switch: a node name or id")
    b: Node | None = Field(None, description="the other end of the link")
    at_us: float = Field(0.0, description="us, when", ge=0, le=MAX_START_US)
    rate_factor: float | None = Field(None, description="new rate over the built rate, 1 to recover (degrade)", ge=1e-3, le=1)
    probability: float | None = Field(None, description="packets lost, 0 to 1 (loss)", ge=0, lt=1)

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> "Fault":
        if (self.b is None) != (self.kind in OF_SWITCHES):
            raise ScenarioError(
                f"faults: {self.kind} of {self.a} needs b, the other end of the link; for a whole switch use kind = 'switch-down' or 'switch-up'"
                if self.b is None
                else f"faults: {self.kind} of {self.a} takes no b = {self.b!r}; did you mean kind = {self.kind.replace('switch', 'link')!r}?"
            )
        for kind, name in (("degrade", "rate_factor"), ("loss", "probability")):
            given = getattr(self, name) is not None
            if given != (self.kind == kind):
                raise ScenarioError(
                    f"faults: {self.kind} of {self.where} "
                    + (f"takes no {name}; did you mean kind = {kind!r}?" if given else f"needs {name}, like {name} = 0.5")
                )
        return self

    @property
    def where(self) -> str:
        """The link or switch, for people."""
        return self.a if self.b is None else f"{self.a}-{self.b}"


class Expectation(Part):
    """A number that a run of this scenario should reproduce."""

    SECTION: ClassVar[str] = "expect"

    value: float
    tolerance: float = Field(0.05, description="relative", ge=0)
