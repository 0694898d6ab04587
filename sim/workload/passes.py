"""One pass of a micro-batch through some layers on one rank: its tasks, and the messages in between that others wait for.

A dense layer is a task of arithmetic and one for its two tensor-parallel all-reduces (arXiv 1909.08053 section 3). Where
something crosses the network within a layer, the layer is cut there: keys and values under context parallelism (arXiv
2310.01889), tokens on their way to experts and back (arXiv 2101.03961 section 2.2), all-reduces wider than a node.
"""

from dataclasses import dataclass, field

from sim.workload.blocks import FlowKind, TaskKind
from sim.workload.strategy import Strategy
from sim.workload.timing import Durations
from sim.workload.transformer import Shape


@dataclass(frozen=True)
class Crossing:
    """Messages among a group between two tasks of a pass; positions count the tasks of the pass."""

    kind: FlowKind
    role: str
    layer: int
    after: tuple[int, ...]  # position of the task that makes what is sent, by step if there are several
    before: tuple[int, ...]  # position of the task that needs what arrives


@dataclass
class Pass:
    """Tasks in order, as lists of equal length, and where in it things happen."""

    kind: list[TaskKind] = field(default_factory=list)
    duration_ps: list[int] = field(default_factory=list)
    n_bytes: list[int] = field(default_factory=list)
    layer: list[int] = field(default_factory=list)
    crossings: list[Crossing] = field(default_factory=list)
    experts: list[int] = field(default_factory=list)  # positions of tasks that routed experts do
    begins: dict[int, int] = field(default_factory=dict)  # layer: position of its first task
    computed: dict[int, int] = field(default_factory=dict)  # layer: position of its last arithmetic outside the routed experts
    expert_computed: dict[int, int] = field(default_factory=dict)
    _open: list[tuple[FlowKind, str, int, tuple[int, ...]]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.kind)

    def task(self, kind: TaskKind, duration_ps: float, layer: int, n_bytes: int = 0, experts: bool = False) -> int:
        """Append a task; its position."""
        position = len(self)
        self.kind.append(kind)
        self.duration_ps.append(round(duration_ps))
        self.n_bytes.append(n_bytes)
        self.layer.append(layer)
        self.begins.setdefault(layer, position)
        if experts:
            self.experts.append(position)
            self.expert_computed[layer] = position
        elif kind not in (TaskKind.TP, TaskKind.WAIT):
            self.computed[layer] = position
        for what, role, of, after in self._open:
            self.crossings.append(Crossing(what, role, of, after, (position,)))
        self._open.clear()
        return position

    @property
    def waits(self) -> bool:
        """Whether the next task has to wait for messages."""
        return bool(self._open)

    def cross(self, kind: FlowKind, role: str, layer: int) -> None:
        """What the last task made crosses the network, and the next task waits for what arrives."""
        if self._open or not len(self):
            self.task(TaskKind.WAIT, 0, layer)
        self._open.append((kind, role, layer, (len(self) - 1,)))

    def close(self, layer: int) -> "Pass":
        """The pass as it is, with a point to wait at if it ends on the network."""
        if self._open:
            self.task(TaskKind.WAIT, 0, layer)
        return self


@dataclass(frozen=True)
class Maker:
    """Makes the passes of a strategy."""

    shape: Shape
    strategy: Strategy
    times: Durations
    tensor_on_network: bool

    @property
    def head(self) -> int:
        """The head counts as a layer behind the last."""
        return self.shape.layers

    def splits(self, layer: int) -> bool:
        """Whether something crosses the network within a layer."""
        return self.strategy.cp > 1 or self.tensor_on_network or (self.strategy.ep > 1 and self.shape.has_experts(layer))

    def forward(self, layers: list[int], with_head: bool) -> Pass:
        made = Pass()
        for layer in layers:
            self._forward(made, layer, TaskKind.FORWARD)
        if with_head:
            made.task(TaskKind.FORWARD, self.times.head_ps, self.head)
        return made.close(layers[-1])

    def backward(self, layers: list[int], with_head: bool, weights: bool = True) -> Pass:
        """Gradients of inputs, and with `weights` those of the weights, last layer first; recomputed forwards before each."""
        made, products = Pass(), 1 + weights
        if with_head:
            made.task(TaskKind.BACKWARD, products * self.times.head_ps, self.head)
        for layer in reversed(layers):
            if self.strategy.recompute == "full":
                self._forward(made, layer, TaskKind.RECOMPUTE)
            self._backward(made, layer, products)
        return made.close(layers[0])

    def weights(self, layers: list[int], with_head: bool) -> Pass:
        """Gradients of the weights alone."""
        made = Pass()
        if with_head:
            made.task(TaskKind.WEIGHT, self.times.head_ps, self.head)
        for layer in reversed(layers):
            if self.strategy.ep > 1 and self.shape.has_experts(layer):
                made.task(TaskKind.WEIGHT, self.times.experts_ps, layer, experts=True)
                made.task(TaskKind.WEIGHT, self.times.projections_ps, layer)
            else:
                made.expert_computed[layer] = made.task(TaskKind.WEIGHT, self.times.weights_ps(self.shape.has_experts(layer)), layer)
        return made

    def _forward(self, made: Pass, layer: int, kind: TaskKind) -> None:
        times, experts = self.times, self.shape.has_experts(layer)
        if not self.splits(layer):
            at = made.task(kind, times.weights_ps(experts) + times.core_ps, layer)
            made.expert_computed[layer] = at
            self._reduce(made, layer, 2)
            return
        if self.strategy.cp > 1:
            self._context_forward(made, layer, kind)
        else:
            made.task(kind, times.projections_ps + times.core_ps, layer)
        self._reduce(made, layer, 1)
        self._mlp(made, layer, kind, 1, ("dispatch", "combine"))
        self._reduce(made, layer, 1)

    def _backward(self, made: Pass, layer: int, products: int) -> None:
        times, experts = self.times, self.shape.has_experts(layer)
        core_ps = times.core_ps * (3 if self.strategy.recompute == "selective" else 2)
        if not self.splits(layer):
            at = made.task(TaskKind.BACKWARD, products * times.weights_ps(experts) + core_ps, layer)
            made.expert_computed[layer] = at
            self._reduce(made, layer, 2)
            return
        self._mlp(made, layer, TaskKind.BACKWARD, products, ("combine backward", "dispatch backward"))
        self._reduce(made, layer, 1)
        if self.strategy.cp > 1:
            self._context_backward(made, layer, core_ps, products)
        else:
            made.task(TaskKind.BACKWARD, products * times.projections_ps + core_ps, layer)
        self._reduce(made, layer, 1)

    def _mlp(self, made: Pass, layer: int, kind: TaskKind, products: int, roles: tuple[str, str]) -> None:
        if not self.shape.has_experts(layer):
            made.task(kind, products * self.times.mlp_ps, layer)
        elif self.strategy.ep == 1:
            made.expert_computed[layer] = made.task(kind, products * self.times.experts_ps, layer)
        else:
            made.cross(FlowKind.EP, roles[0], layer)
            made.task(kind, products * self.times.experts_ps, layer, experts=True)
            made.cross(FlowKind.EP, roles[1], layer)

    def _reduce(self, made: Pass, layer: int, count: int) -> None:
        """All-reduces of the layer's output among tensor-parallel ranks: a task in the node, messages over the network."""
        if self.tensor_on_network:
            for _ in range(count):
                made.cross(FlowKind.TP, "all-reduce", layer)
        elif self.strategy.tp > 1:
            if made.waits:
                made.task(TaskKind.WAIT, 0, layer)  # nobody's all-reduce begins before all its peers have what they need
            made.task(TaskKind.TP, count * self.times.tensor_ps, layer, count * self.times.tensor_bytes)

    def _context_forward(self, made: Pass, layer: int, kind: TaskKind) -> None:
        times, before = self.times, self.times.projections_ps * self._share_before_core()
        after = times.projections_ps - before
        first = made.task(kind, before, layer)
        if self.strategy.context_form == "gather":
            made.cross(FlowKind.CP, "gather", layer)
            made.task(kind, times.core_ps + after, layer)
            return
        pieces = [made.task(kind, times.core_ps / self.strategy.cp, layer) for _ in range(self.strategy.cp)]
        made.duration_ps[pieces[-1]] += round(after)
        made.crossings.append(Crossing(FlowKind.CP, "pass", layer, (first,), tuple(pieces[1:])))

    def _context_backward(self, made: Pass, layer: int, core_ps: float, products: int) -> None:
        c, before = self.strategy.cp, self.times.projections_ps * self._share_before_core()
        after = self.times.projections_ps - before
        if self.strategy.context_form == "gather":
            made.cross(FlowKind.CP, "gather", layer)
            made.task(TaskKind.BACKWARD, products * after + core_ps, layer)
            made.cross(FlowKind.CP, "scatter", layer)
            made.task(TaskKind.BACKWARD, products * before, layer)
            return
        pieces = [made.task(TaskKind.BACKWARD, core_ps / c, layer) for _ in range(c)]
        made.duration_ps[pieces[0]] += round(products * after)
        made.task(TaskKind.BACKWARD, products * before, layer)
        made.crossings.append(Crossing(FlowKind.CP, "pass backward", layer, tuple(pieces[:-1]), tuple(pieces[1:])))

    def _share_before_core(self) -> float:
        """Share of the projections that makes queries, keys and values; the rest is the output's."""
        shape = self.shape
        if shape.latent[1]:
            return 1 - shape.heads * shape.latent[4] / max(1, shape.heads * shape.latent[4] + shape.latent[0] + shape.latent[1])
        return (shape.heads + 2 * shape.kv) / (2 * shape.heads + 2 * shape.kv)
