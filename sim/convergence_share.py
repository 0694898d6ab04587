"""Max-min fair rates of a few flows (Bertsekas and Gallager, Data Networks, 2nd ed., section 6.5.2), the yardstick of convergence."""

import heapq

import numpy as np

SAME_LEVEL = 1 + 1e-9  # ports whose levels differ by less than rounding fill up together


def fair_bps(capacity_bps: np.ndarray, member: np.ndarray, port: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """float64[n]: rate of each flow, where flow `member[i]` takes `weight[i]` times its rate of port `port[i]`.

    All rates rise together until a port is full; its flows stay there. Ports lie in a heap by the level at which they would
    fill up, which only rises as others drop out: the effort is that of the crossings, times a logarithm.
    """
    n, ports = int(member.max(initial=-1)) + 1, len(capacity_bps)
    load = np.bincount(port, weight, ports).tolist()
    left, rate = capacity_bps.astype(float).tolist(), [0.0] * n
    crossings, users = [[] for _ in range(n)], [[] for _ in range(ports)]
    for f, p, w in zip(member.tolist(), port.tolist(), weight.tolist(), strict=True):
        crossings[f].append((p, w))
        users[p].append(f)
    rising, left_to_rise = [True] * n, [len(some) for some in users]
    due = [(left[p] / load[p], p) for p in range(ports) if load[p] > 0]
    heapq.heapify(due)
    while due:
        level, p = heapq.heappop(due)
        if not left_to_rise[p]:
            continue
        now = left[p] / load[p]
        if now > level * SAME_LEVEL:
            heapq.heappush(due, (now, p))
            continue
        for f in users[p]:
            if rising[f]:
                rising[f], rate[f] = False, now
                for q, w in crossings[f]:
                    left[q] -= w * now
                    load[q] -= w
                    left_to_rise[q] -= 1
    return np.array(rate)
