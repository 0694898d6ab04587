"""Random small scenarios: graphs with parallel and direct links of any speed, flows of any size, every transport option."""

from hypothesis import strategies as st

from tests.walls.runs import EVERY_CONTROLLER

RATES_GBPS = (1, 7, 10, 25, 40, 100, 400, 3600)
DELAYS_NS = (0, 1, 50, 250, 1000, 3333)
BYTES = (0, 1, 999, 1000, 1001, 4096, 20_000, 60_000)
STARTS_US = (0.0, 0.0, 0.000001, 1.0, 4.2, 33.3)


@st.composite
def graphs(draw, hosts_forward=False):
    """(text in the HPCC simulator's topology format, hosts, links as (a, b)): a connected graph with switches inside.

    Where hosts forward, some are only linked to hosts before them.
    """
    switches, hosts = draw(st.integers(1, 3)), draw(st.integers(2, 5))
    uplinks = [(host, hosts + draw(st.integers(-host if hosts_forward else 0, switches - 1))) for host in range(hosts)]
    uplinks = [(host, to if to >= hosts else hosts - 1 - to) for host, to in uplinks]
    trunks = [(hosts + i, hosts + i + 1) for i in range(switches - 1)]
    extra = st.sampled_from([(a, b) for a in range(hosts + switches) for b in range(a)])
    links = uplinks + trunks + draw(st.lists(extra, max_size=3))
    same = draw(st.booleans())
    link_kind = st.tuples(st.sampled_from(RATES_GBPS), st.sampled_from(DELAYS_NS))
    first = draw(link_kind)
    kinds = [first if same else draw(link_kind) for _ in links]
    rows = [f"{a} {b} {rate}Gbps {delay}ns 0" for (a, b), (rate, delay) in zip(links, kinds, strict=True)]
    head = [f"{hosts + switches} {switches} {len(links)}", " ".join(str(hosts + i) for i in range(switches))]
    return "\n".join(head + rows) + "\n", hosts, links


@st.composite
def flow_lists(draw, hosts):
    """One to eight flows between different hosts, several of a pair among them, many at one instant."""
    flow = st.tuples(
        st.integers(0, hosts - 1), st.integers(1, hosts - 1), st.sampled_from(BYTES), st.sampled_from(STARTS_US)
    )
    return [
        {"src": src, "dst": (src + step) % hosts, "bytes": size, "start_us": start}
        for src, step, size, start in draw(st.lists(flow, min_size=1, max_size=8))
    ]


@st.composite
def transports(draw):
    """Any controller with any packet sizes, ACK policy, marking and pausing that fit each other."""
    low = draw(st.sampled_from((0.0, 2.0, 10.0, 400.0)))
    transport = {
        "congestion_control": draw(st.sampled_from(EVERY_CONTROLLER)),
        "payload_bytes": draw(st.sampled_from((1000, 997, 4096))),
        "header_bytes": draw(st.sampled_from((48, 0))),
        "ack_every": draw(st.sampled_from((1, 1, 2, 16))),
        "ack_priority": draw(st.sampled_from(("shared", "strict"))),
        "window": draw(st.sampled_from(("auto", "none", "bdp"))),
        "ecn_kmin_kb": low,
        "ecn_kmax_kb": low + draw(st.sampled_from((0.0, 10.0))),
        "ecn_pmax": 0.5,
        "pfc": draw(st.sampled_from(("dynamic", "fixed", "off"))),
        "buffer_mb": draw(st.sampled_from((20.0, 32.0))),
        "retransmit_timeout_us": 400.0,
        "int_telemetry": draw(st.sampled_from(("exact", "ns3"))),
    }
    if transport["pfc"] == "fixed":
        transport["pfc_xoff_kb"] = draw(st.sampled_from((1.0, 4.0, 15.0)))
    elif transport["pfc"] == "off" and draw(st.booleans()):
        transport["buffer_mb"] = draw(st.sampled_from((0.003, 0.012, 0.03)))
    return transport


@st.composite
def fault_lists(draw, links):
    """Up to two faults: a link slower or faster, lossy, or down for a while or for good."""
    found = []
    for _ in range(draw(st.integers(0, 2))):
        a, b = draw(st.sampled_from(links))
        at = draw(st.sampled_from((0.0, 1.5, 7.0)))
        where = {"a": str(a), "b": str(b)}
        kind = draw(st.sampled_from(("degrade", "loss", "link-down")))
        if kind == "degrade":
            found.append({**where, "kind": kind, "at_us": at, "rate_factor": draw(st.sampled_from((0.1, 0.5, 1.0)))})
        elif kind == "loss":
            found.append({**where, "kind": kind, "at_us": at, "probability": draw(st.sampled_from((0.01, 0.2)))})
        else:
            found.append({**where, "kind": kind, "at_us": at})
            if draw(st.booleans()):
                found.append({**where, "kind": "link-up", "at_us": at + draw(st.sampled_from((0.5, 100.0)))})
    return found


@st.composite
def scenarios(draw, faults=True):
    """Scenario data, and the links of its graph."""
    hosts_forward = draw(st.booleans())
    graph, hosts, links = draw(graphs(hosts_forward))
    data = {
        "cluster": {"topology": "file", "graph": graph, "hosts_forward": hosts_forward, "ecmp_seed": draw(st.integers(0, 3))},
        "traffic": {"pattern": "flows", "flows": draw(flow_lists(hosts))},
        "transport": draw(transports()),
        "simulation": {
            "resolution": draw(st.sampled_from(("1ps", "1ps", "1ns"))),
            "seed": draw(st.integers(0, 3)),
            "sample_bins": draw(st.sampled_from((256, 4))),
        },
    }
    if faults:
        data["faults"] = draw(fault_lists(links))
    return data
