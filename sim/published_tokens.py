"""Seconds that tokens need on their way to the experts of other GPUs: NVLink inside a server, the GPU's NIC across."""

from sim.published_jobs import Job
from sim.published_rates import ALL_TO_ALL_S, Rates

SERVERS_REACHED = 4  # of a token at most, where routing limits it (arXiv 2412.19437 section 3.2.2)


def all_to_all_s(job: Job, rates: Rates, entry_bytes: int) -> float:
    """One all-to-all of K hidden states for each token of a GPU, uniformly to e experts' GPUs.

    (near - 1)/e of them stay in the server, 1 - near/e leave it. Where a token crosses once per server, it is sent to as many other
    servers as K uniform choices among the reachable ones visit.
    """
    ep, near = job.ep, min(job.ep, job.gpus_per_node)
    states = job.tokens / job.tp * job.shape.hidden * entry_bytes
    inside = states * job.shape.top_k * (near - 1) / ep / rates.all_to_all_bytes_per_s
    if ep == near:
        return inside + ALL_TO_ALL_S[False]
    copies = job.shape.top_k * (1 - near / ep)
    if job.stack.experts_once:
        servers = ep / near
        reachable = min(servers, SERVERS_REACHED)
        copies = reachable * (1 - (1 - 1 / reachable) ** job.shape.top_k) * (1 - 1 / servers)
    return max(inside, states * copies / rates.nic_bytes_per_s) + ALL_TO_ALL_S[True]
