"""What the wormhole kernel has counted, by name."""

from sim.wormhole.layout import Wormhole


def counters(w: Wormhole, finished_flows: int, simulated_hops: int) -> dict:
    """Packet-hops by how they came about, use of the memo, partitions: what `python -m sim run --json` has beside the results.

    `simulated_hops`: those simulated packet by packet outside the graph of states.
    """
    p = w.p[0]
    return {
        "interrupts": int(p["entries"]) + finished_flows, "rollbacks": int(p["interrupts"]),
        "packet_hops": {
            "total": int(p["credited"]) + simulated_hops, "executed": int(p["executed"]) + simulated_hops, "replayed": int(p["replayed"]),
            "skipped": int(p["skipped_hops"]), "irreducible": int(p["fresh_hops"]) + simulated_hops,
        },
        "memo": {"patterns": int(p["states"]), "hits": int(p["hits"]), "misses": int(p["misses"]), "bytes": int(p["arena_end"]) * 8},
        "partitions": {"formed": int(p["ids"]), "merges": int(p["merges"]), "splits": int(p["splits"]), "max_flows": int(p["max_flows"])},
    }  # fmt: skip
