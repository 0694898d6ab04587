"""Pipeline parallelism: what a stage hands to its neighbours, activations forward and gradients back."""

import numpy as np

from sim.workload.blocks import Edges, FlowKind, Flows
from sim.workload.stage import Stream
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape, hidden_state_bytes


def message_bytes(shape: Shape, strategy: Strategy) -> int:
    """2sbh/t: every tensor-parallel rank sends its share and the receivers gather (arXiv 2104.04473 section 4.1)."""
    return -(-hidden_state_bytes(shape, strategy.micro_batch) // strategy.tp)


FORWARD_DRAWS, BACKWARD_DRAWS = (
    1,
    2,
)  # draw keys: twins of other replicas and rails draw alike, the two directions do not


def hand_over(
    shape: Shape,
    strategy: Strategy,
    lines: list[Stream],
    task: list[np.ndarray],
    hosts: np.ndarray,
    first_node: int,
    done: Edges,
) -> Flows:
    """Flows over every stage boundary, by boundary, direction, micro-batch and rank; edges added to `done`.

    A message leaves when the pass that makes it ends, and its arrival releases the same pass next door;
    there the tensor-parallel ranks meet again in their first all-reduce, whoever got its share last.

    Parameters
    ----------
    lines : per stage, its stream of tasks
    task : per stage int64[ranks of the stage], node id of each rank's first task
    """
    blocks, node = [], first_node
    size = message_bytes(shape, strategy)
    microbatch = np.arange(strategy.micro_batches)[:, None]
    for left in range(strategy.pp - 1):
        right = left + 1
        for draw_key, sender, receiver, ends, begins in (
            (FORWARD_DRAWS, left, right, lines[left].forward_last, lines[right].forward_first),
            (BACKWARD_DRAWS, right, left, lines[right].backward_last, lines[left].backward_first),
        ):
            flows = Flows.of(
                hosts[strategy.stage_ranks(sender)], hosts[strategy.stage_ranks(receiver)], size, FlowKind.PP,
                draw_key=draw_key, microbatch=microbatch,
            )  # fmt: skip
            flow = node + np.arange(len(flows)).reshape(strategy.micro_batches, -1)
            first = task[receiver] + begins[:, None]
            done.add(task[sender] + ends[:, None], flow)
            done.add(flow, first)
            _meet(first, strategy.tp, done)
            blocks.append(flows)
            node += len(flows)
    return Flows.join(blocks)


def _meet(first: np.ndarray, tp: int, done: Edges) -> None:
    """The first all-reduce of a pass, the task after `first[m, ranks]`, waits for the compute of all its peers."""
    if tp == 1:
        return
    groups = first.reshape(len(first), -1, tp)
    mine, peer = np.nonzero(~np.eye(tp, dtype=bool))
    done.add(groups[:, :, peer], groups[:, :, mine] + 1)
