"""Samples of a partition that is solved by packets, and what the last of them say: whether its mean rates will go on.

The tests and limits are those of WORMHOLE.md, section 3.
"""

from math import sqrt

from numpy import int64

from sim.congestion import dcqcn, dctcp, hpcc, hpcc_fixed, none, timely
from sim.jit import called, kernel

BATCHES, SAMPLES, FIRST_LOOK, LOOKS_EVERY = 16, 32, 20, 4
FIRST_STEP_PS = int64(16_000_000)  # 32 of them: 512 us, the shortest look at a lone flow
STEP_ROUND_TRIPS = 2  # a step is never shorter
SHARED_PS = (
    # controller, time since the last event before its shares are fitted, limit on the total's standard error (WORMHOLE.md
    # section 3), correlation of shares from quad to quad that is expected,
    # by how much a variance fitted to so few batches may be too small (both from traces of incast 8:1 and 12:1)
    (dcqcn.NUMBER, int64(8_000_000_000), 0.01, 0.7, 1.5),
    (timely.NUMBER, int64(8_000_000_000), 0.02, 0.6, 1.5),
    (dctcp.NUMBER, int64(10_000_000_000), 0.01, 0.1, 3.0),
    (hpcc.NUMBER, int64(3_000_000_000), 0.01, 0.9, 6.0),
    (hpcc_fixed.NUMBER, int64(3_000_000_000), 0.01, 0.9, 6.0),
)
ALONE_LIMIT = 0.02  # every flow's confidence interval where nobody is disturbed
DRIFT_LIMIT = 0.02  # of what is acknowledged: sent beyond it
TREND_LIMIT = 0.005  # of a rate that is not the line's, between two halves of a window: more is a ramp
TREND_SHARE = 1.5  # of that limit: what halves of a window may differ by
FALLING = 0.4  # shares that scatter less than this (variance) in the later half have not settled
LEAST_PACKETS = 2.0 * BATCHES  # of every flow, in the batches that are judged
GUARD_PACKETS = 64  # left to send by the flow that ends first


@called
def begin_sampling(s, w):
    """Make room for samples of the partition that has just been loaded; they lie at the end of the arena until it is concluded."""
    p = w.p[0]
    g = s.g[0]
    p.sample_step = FIRST_STEP_PS
    for j in range(p.slots):
        p.sample_step = max(p.sample_step, STEP_ROUND_TRIPS * s.flow[w.tmp[j].slot].base_rtt_ps)
    p.samples_at = p.arena_end
    p.arena_end += (SAMPLES + 1) * (p.slots + 2) + p.slots + 3 * p.loaded
    p.sample_losses = g.drops + g.losses + g.retransmits + g.timeouts
    restart(s, w)


@called
def restart(s, w):
    """Begin to sample here."""
    p = w.p[0]
    p.sample_count = 0
    p.sample_from = s.g[0].now - 1 - p.reference
    p.sample_skipped = p.skipped_ps
    p.sample_at = p.sample_from + p.sample_step
    put_sample(s, w)


@called
def put_sample(s, w):
    """Note what every flow has had acknowledged, what is outstanding, and marks."""
    p = w.p[0]
    row = p.samples_at + p.sample_count * (p.slots + 2)
    outstanding = int64(0)
    for j in range(p.slots):
        F = s.flow[w.tmp[j].slot]
        w.arena[row + j] = F.acked_packets
        outstanding += F.next_packet - F.acked_packets
    w.arena[row + p.slots] = outstanding
    w.arena[row + p.slots + 1] = s.g[0].marks
    if p.sample_count == BATCHES:
        put_books(s, w)
    p.sample_count += 1


@called
def put_books(s, w):
    """Note marks and pauses, to extrapolate them from."""
    p = w.p[0]
    at = p.samples_at + (SAMPLES + 1) * (p.slots + 2)
    for j in range(p.slots):
        w.arena[at + j] = s.flow[w.tmp[j].slot].marks
    at += p.slots
    for j in range(p.loaded):
        P = s.port[w.tmp[j].loaded]
        w.arena[at] = P.marks
        w.arena[at + 1] = P.pauses
        w.arena[at + 2] = P.paused_ps
        at += 3


@kernel
def counted(w, j, row):
    """What column `j` of sample `row` says: acknowledged packets of the j-th flow."""
    p = w.p[0]
    return w.arena[p.samples_at + row * (p.slots + 2) + j]


@called
def progress(s, w, j, a, b):
    """Packets acknowledged between two samples, of the j-th flow or (-1) of all that are under way."""
    total = int64(0)
    for m in range(w.p[0].slots):
        if (m == j or j < 0) and s.flow[w.tmp[m].slot].done == 0:
            total += counted(w, m, b) - counted(w, m, a)
    return float(total)


@called
def spread(s, w, j, last):
    """Relative standard error of the mean over the last batches, the largest by batches, pairs and quads."""
    first = last - BATCHES
    mean = progress(s, w, j, first, last) / BATCHES
    worst = 0.0
    size = 1
    while size <= 4:
        square = 0.0
        groups = BATCHES // size
        for b in range(groups):
            x = progress(s, w, j, first + b * size, first + (b + 1) * size) / size - mean
            square += x * x
        worst = max(worst, square / (groups - 1) / groups)
        size *= 2
    return sqrt(worst) / max(mean, 1e-9)


@called
def trend(s, w, j, last):
    """Relative difference between the halves of the window."""
    half = BATCHES // 2
    a = progress(s, w, j, last - BATCHES, last - half)
    b = progress(s, w, j, last - half, last)
    return 2.0 * (b - a) / max(a + b, 1.0)


@called
def survey(s, w):
    """Who is under way: p.live flows, p.alike where one bottleneck serves flows of one kind, p.disjoint, p.at_line; False near an end."""
    p = w.p[0]
    p.stamp += 1
    p.live = 0
    p.alike = 1
    p.at_line = 1
    for j in range(p.slots):
        F = s.flow[w.tmp[j].slot]
        if F.done == 0:
            if F.next_packet >= F.packets - GUARD_PACKETS:
                return False
            p.live += 1
            A = s.flow[w.tmp[0].slot]
            if F.base_rtt_ps != A.base_rtt_ps or F.line_bps != A.line_bps or F.window_bytes != A.window_bytes:
                p.alike = 0
            if F.rate_bps != F.line_bps:
                p.at_line = 0
    most = int64(0)
    for j in range(p.slots):
        F = s.flow[w.tmp[j].slot]
        for h in range(F.hops if F.done == 0 else 0):
            Q = w.port[s.paths[F.path + h]]
            if Q.stamp != p.stamp:
                Q.stamp = p.stamp
                Q.place = 0
            Q.place += 1
            most = max(most, Q.place)
    p.disjoint = 1 if most <= 1 else 0
    if most < p.live:
        p.alike = 0
    return p.live > 0


@called
def is_steady(s, w, last):
    """Whether the mean rates of the last batches will go on."""
    p = w.p[0]
    g = s.g[0]
    if not survey(s, w):
        return False
    first = last - BATCHES
    for j in range(p.slots):
        if s.flow[w.tmp[j].slot].done == 0 and progress(s, w, j, first, last) < LEAST_PACKETS:
            return False  # nothing can be told yet of who sends so seldom
    half = first + BATCHES // 2
    marks = p.slots + 1
    early_marks = counted(w, marks, half) - counted(w, marks, first)
    late_marks = counted(w, marks, last) - counted(w, marks, half)
    marked = early_marks > 0 and late_marks > 0
    quiet = early_marks + late_marks == 0
    all_acked = progress(s, w, -1, first, last)
    drift = abs(counted(w, p.slots, last) - counted(w, p.slots, first)) / max(all_acked, 1.0)
    adapts = g.controller == hpcc.NUMBER or g.controller == hpcc_fixed.NUMBER
    p.fitted = 0
    if (p.at_line and quiet) or (p.disjoint and adapts) or g.controller == none.NUMBER:
        for j in range(p.slots):
            if s.flow[w.tmp[j].slot].done == 0:
                limit = ALONE_LIMIT if p.at_line else TREND_LIMIT
                if 2.0 * spread(s, w, j, last) > ALONE_LIMIT or abs(trend(s, w, j, last)) > limit:
                    return False
        return drift <= DRIFT_LIMIT
    if not p.alike or p.live < 2:
        return False
    p.fitted = 1
    enough = False
    limit = 0.0
    for row in SHARED_PS:
        if g.controller == row[0]:
            enough = last * p.sample_step >= row[1]
            limit = row[2]
            p.fit_prior = row[3]
            p.fit_doubt = row[4]
    if not enough or drift > DRIFT_LIMIT or not (marked or adapts or g.controller == timely.NUMBER):
        return False
    if spread(s, w, -1, last) > limit or abs(trend(s, w, -1, last)) > TREND_SHARE * limit:
        return False
    return scatter(s, w, half, last) >= FALLING * scatter(s, w, first, half)


@called
def deviation(s, w, j, a, b):
    """By how much the j-th flow has had more acknowledged between two samples than the mean of all."""
    return progress(s, w, j, a, b) - progress(s, w, -1, a, b) / w.p[0].live


@called
def scatter(s, w, a, b):
    """Mean square of the flows' deviations, batch by batch, between two samples."""
    p = w.p[0]
    square = 0.0
    for j in range(p.slots):
        if s.flow[w.tmp[j].slot].done == 0:
            for m in range(a, b):
                x = deviation(s, w, j, m, m + 1)
                square += x * x
    return square / (p.live * (b - a))
