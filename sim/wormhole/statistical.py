"""Level bounded: a partition whose rates are steady in the mean is carried forward by estimated numbers, with an error bar.

A flow's acknowledged packets are sampled at equal steps since the last event (kept at no more than 32,
the step doubles). At 20, 24, 28 and 32 samples the last 16 batches are judged (`samples.py`). Then time
jumps to the earliest completion, or to the interrupt that ends the episode.

Flows alike on one bottleneck share its total by a mean-reverting fit (Ornstein-Uhlenbeck: deviations of
variance V that die out in tau, beside white noise). The jump *draws* from it: expected shares would make
all flows end together and the mean FCT too long, frozen ones spread them too far. The draw is a hash of
the partition's state. Everybody else is carried forward only while each flow by itself is steady, and Swift
is run by packets where it contends.

HPCC's shares wander for 6 to 37 ms, longer than any window worth waiting for: of flows that share a bottleneck
only the last completion is promised, for the total is known after a millisecond; single flows have wide bars.

100 MB flows into one 100 Gb/s port, starts spread over 5 us, 24 seeds that nothing was tuned on, against packet mode. `in 2 s`:
flows whose FCT is within two standard errors. The packet runs' own mean FCT varies by 0.1 to 1.0 % from seed to seed.

| incast | mean FCT | last FCT | hops skipped | in 2 s | standard error / FCT |
|---|---|---|---|---|---|
| DCQCN 8:1, 12:1 | +0.35, +0.40 % | +0.9, +0.2 % | 80, 84 % | 99.5, 97 % | 6.1, 3.0 % |
| TIMELY 8:1, 12:1 | -0.07, -0.13 % | 0.0, 0.0 % | 85, 86 % | 100, 100 % | 1.0, 1.0 % |
| DCTCP 8:1, 12:1 | -0.25, +0.30 % | 0.00, 0.00 % | 79, 83 % | 100, 98 % | 5.5, 6.3 % |
| HPCC fixed 8:1, 12:1, 16 seeds | +6.6, +3.9 % | 0.01, 0.02 % | 78, 83 % | 98, 98 % | 23, 13 % |
| HPCC float 8:1, 12:1, 16 seeds | +11, +3.5 % | 0.04, 0.02 % | 79, 84 % | 99, 98 % | 21, 14 % |
"""

from math import exp, log, sqrt

from numpy import int64

from sim.jit import called, kernel
from sim.packet.draw import unit_draw
from sim.packet.layout import NEVER
from sim.wormhole.samples import (
    BATCHES,
    FIRST_LOOK,
    GUARD_PACKETS,
    LOOKS_EVERY,
    SAMPLES,
    deviation,
    is_steady,
    progress,
    put_books,
    put_sample,
    restart,
    spread,
)
from sim.wormhole.steady_state import credit_flow, renumber_port

PRIOR_WEIGHT, LARGEST_RHO, LEAST_SLOW = 0.5, 0.95, 0.25  # of the fit: what few batches cannot tell


@called
def fit(s, w, last):
    """Fit the shares' scatter by its covariance from quad to quad; times in steps, rates in packets per step."""
    p = w.p[0]
    first = last - BATCHES
    zero = 0.0
    one = 0.0
    two = 0.0
    three = 0.0
    for j in range(p.slots):
        if s.flow[w.tmp[j].slot].done:
            continue
        a = deviation(s, w, j, first, first + 4) / 4
        b = deviation(s, w, j, first + 4, first + 8) / 4
        c = deviation(s, w, j, first + 8, first + 12) / 4
        d = deviation(s, w, j, first + 12, last) / 4
        zero += (a * a + b * b + c * c + d * d) / 4
        one += (a * b + b * c + c * d) / 3
        two += (a * c + b * d) / 2
        three += a * d
    scale = 1.0 / (p.live - 1)
    prior = PRIOR_WEIGHT * zero
    rho = min(LARGEST_RHO, (max(0.0, two + three) + prior * p.fit_prior) / (max(0.0, one + two) + prior))
    slow = min(zero, max(LEAST_SLOW * zero, one / rho))
    p.fit_tau = -4.0 / log(rho)
    p.fit_variance = slow * scale
    p.fit_white = 4.0 * (zero - slow) * scale
    p.fit_weight = slow / max(1e-12, slow + (zero - slow) / 2)
    p.fit_mean = progress(s, w, -1, first, last) / BATCHES / p.live
    p.fit_error = spread(s, w, -1, last)
    total = 0.0
    for j in range(p.slots):
        if s.flow[w.tmp[j].slot].done == 0:
            total += normal(s, w, j)
    p.fit_centre = total / p.live


@called
def normal(s, w, j):
    """A normal draw for the j-th flow of the state that is solved (a sum of twelve uniform ones)."""
    x = -6.0
    for m in range(12):
        x += unit_draw(s.g[0].seed, w.state[w.part[w.p[0].solving].state].hash, j, m)
    return x


@kernel
def fit_square(p, steps):
    """Variance of the packets that a share adds in so many steps."""
    e = exp(-steps / p.fit_tau)
    slow = p.fit_variance * p.fit_tau * p.fit_tau * (2.0 * steps / p.fit_tau - 3.0 + 4.0 * e - e * e)
    return max(0.0, slow + p.fit_white * steps)


@called
def packets_after(s, w, j, last, steps):
    """What the j-th flow sends in so many steps."""
    p = w.p[0]
    if not p.fitted:
        return progress(s, w, j, last - BATCHES, last) / BATCHES * steps
    now = deviation(s, w, j, last - BATCHES // 2, last) / (BATCHES // 2) * p.fit_weight
    decay = p.fit_tau * (1.0 - exp(-steps / p.fit_tau))
    z = (normal(s, w, j) - p.fit_centre) * sqrt(p.live / (p.live - 1.0))
    return p.fit_mean * steps + now * decay + z * sqrt(fit_square(p, steps))


@called
def ends_within(s, w, last, steps):
    """Whether a flow would come to its guard in so many steps."""
    for j in range(w.p[0].slots):
        F = s.flow[w.tmp[j].slot]
        if F.done == 0 and packets_after(s, w, j, last, steps) >= F.packets - GUARD_PACKETS - F.next_packet:
            return True
    return False


@called
def jump(s, w, last):
    """Carry everything forward to the earliest end; False where it is not worth it."""
    p = w.p[0]
    g = s.g[0]
    if p.fitted:
        fit(s, w, last)
    low = float(BATCHES)
    if ends_within(s, w, last, low):
        return False
    while low * 2.0 * p.sample_step < float(NEVER) / 8 and not ends_within(s, w, last, 2.0 * low):
        low *= 2.0
    high = 2.0 * low
    for _ in range(40):
        middle = (low + high) / 2.0
        if ends_within(s, w, last, middle):
            high = middle
        else:
            low = middle
    now = g.now - 1 - p.reference + p.skipped_ps
    span = int64(low * p.sample_step)
    part = 1.0
    if p.solve_until < NEVER and p.solve_until - now < span:
        part = float(p.solve_until - now) / span
        span = p.solve_until - now
    if p.probing:
        p.probing = 0
        p.arena_end = p.anchor
    p.probe_at = NEVER
    credit(s, w, last, low, part)
    p.skip_from = g.now - 1 - p.reference
    p.skipped_ps += span
    p.jumps += 1
    return True


@called
def credit(s, w, last, steps, part):
    """What flows, ports and statistics gain in the first `part` of so many steps."""
    p = w.p[0]
    g = s.g[0]
    for j in range(p.slots):
        i = int64(w.tmp[j].slot)
        F = s.flow[i]
        packets = int64(0)
        if F.done == 0:
            packets = max(int64(0), min(int64(part * packets_after(s, w, j, last, steps)), F.packets - 1 - F.next_packet))
            x = p.fit_error if p.fitted else spread(s, w, j, last)
            x *= packets
            square = x * x
            if p.fitted:
                square += 2.0 * p.fit_doubt * fit_square(p, part * steps)
            p.variance = max(p.variance, square)
        credit_flow(s, w, i, packets, packets, int64(0))
        acks = packets // g.ack_every
        for h in range(F.hops):
            P = s.port[s.paths[F.path + h]]
            P.tx_packets += packets
            P.tx_bytes += packets * (g.payload + g.header)
        for h in range(F.ack_hops):
            P = s.port[s.paths[F.ack_path + h]]
            P.tx_packets += acks
            P.tx_bytes += acks * g.ack_bytes
        p.skipped += packets * F.hops + acks * F.ack_hops
        p.skipped_data += packets
    factor = part * steps / (last - BATCHES)
    at = p.samples_at + (SAMPLES + 1) * (p.slots + 2)
    for j in range(p.slots):
        F = s.flow[w.tmp[j].slot]
        F.marks += int64(factor * (F.marks - w.arena[at + j]))
    at += p.slots
    for j in range(p.loaded):
        P = s.port[w.tmp[j].loaded]
        marks = int64(factor * (P.marks - w.arena[at]))
        pauses = int64(factor * (P.pauses - w.arena[at + 1]))
        P.marks += marks
        P.pauses += pauses
        P.paused_ps += int64(factor * (P.paused_ps - w.arena[at + 2]))
        p.skipped_marks += marks
        p.skipped_pauses += pauses
        at += 3
        renumber_port(s, w, P)


@called
def sample(s, w):
    """Take a sample; look whether time may jump; keep every second sample where there are too many."""
    p = w.p[0]
    g = s.g[0]
    if p.skipped_ps != p.sample_skipped:
        restart(s, w)  # whole periods have been skipped
        return
    if g.drops + g.losses + g.retransmits + g.timeouts != p.sample_losses:
        p.sample_at = NEVER
        return
    put_sample(s, w)
    last = p.sample_count - 1
    if last >= FIRST_LOOK and last % LOOKS_EVERY == 0 and is_steady(s, w, last) and jump(s, w, last):
        p.sample_at = NEVER
        return
    if last == SAMPLES:
        width = p.slots + 2
        for j in range(1, BATCHES + 1):
            for c in range(width):
                w.arena[p.samples_at + j * width + c] = w.arena[p.samples_at + 2 * j * width + c]
        p.sample_step *= 2
        p.sample_count = BATCHES + 1
        put_books(s, w)
    p.sample_at = p.sample_from + p.sample_count * p.sample_step
