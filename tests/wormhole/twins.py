"""Small scenarios that the wormhole kernel has something to say about."""

from sim.modes import make_simulation
from tests.packet import lab

LINK = 100, 1000  # Gb/s, ns
FIXED = {"pfc": "fixed", "pfc_xoff_kb": 1000.0}


def star(*switches):
    """Links of hosts to switches: `star((0, 1), (2, 3))` are hosts 0 and 1 on one switch, 2 and 3 on another, no link between."""
    hosts = sum(map(len, switches))
    return [(host, hosts + number, *LINK) for number, of in enumerate(switches) for host in of]


def finished(links, flows, hosts, mode="wormhole", options=None, **given):
    """The simulation of these links and flows, run to its end."""
    sim = make_simulation(lab.scenario(links, flows, hosts, **{**FIXED, **given}), mode, **(options or {}))
    while not sim.advance():
        pass
    assert sim.status == "finished", sim.result().notices
    return sim


def lone(size_bytes=1_000_000, **given):
    """One flow over one switch."""
    return finished(star((0, 1)), [(0, 1, size_bytes)], 2, **given)


def twin_incasts(start_us=0.0, **given):
    """0 and 1 send to 2; on another switch 3 and 4 send to 5, from `start_us` on."""
    flows = [(0, 2, 50_000), (1, 2, 50_000), (3, 5, 50_000, start_us), (4, 5, 50_000, start_us)]
    links = [*star((0, 1, 2), (3, 4, 5)), (6, 7, *LINK)]
    return finished(links, flows, 6, **given)
