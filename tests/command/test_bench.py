"""`bench`: what it reports, on its smallest cases."""

from sim.command import bench_packet


def test_packet_reports_time_and_memory_of_a_case(sim):
    found = sim("bench", "packet", "--case", "incast-16", "--json", "-").json()
    (case,) = found["cases"]
    assert case["name"] == "incast-16" and case["packet_hops"] >= 256_000
    assert 1 < case["ns_per_hop_cpu"] < 10_000
    assert 10**5 < case["state_bytes"] < 10**8 < case["peak_rss_bytes"] < 10**10


def test_packet_has_every_case():
    assert {"incast-16", "k4-all-to-all", "k8-ring-128", "k16-ring-1024", "sparse-1024"} <= set(bench_packet.CASES)
    ring = bench_packet.CASES["k8-ring-128"]()
    assert (ring.cluster.gpus, ring.traffic.flow_bytes, ring.transport.congestion_control) == (128, 4_000_000, "dcqcn")
    large = bench_packet.CASES["k16-ring-1024"]()
    assert (large.cluster.gpus, large.cluster.fat_tree_k, large.traffic.flow_bytes) == (1024, 16, 4_000_000)


def test_compilation_is_measured_in_fresh_processes(monkeypatch):
    caches = []

    def child(function, argument=None, **variables):
        caches.append(variables["WORMHOLE_LAB_CACHE"])
        return {"cpu_s": 10.0 / len(caches), "wall_s": 11.0 / len(caches)}

    monkeypatch.setattr(bench_packet, "_child", child)
    found = bench_packet.once()
    assert found == {"compile_s": 10.0, "compile_wall_s": 11.0, "cached_load_s": 5.0, "cached_load_wall_s": 5.5}
    assert len(set(caches)) == 1


def test_build_reports_each_step(sim):
    found = sim("bench", "build", "--case", "gpt-7b-64", "--json", "-").json()
    (case,) = found["cases"]
    assert (case["gpus"], case["tasks"], case["flows"]) == (64, 9472, 4864)
    assert all(0 < case[step] < 5 for step in ("network_s", "dag_s", "routes_s", "total_s"))


def test_orchestrate_counts_an_interrupt_per_entry_and_exit_and_runs_no_packet(sim):
    (case,) = sim("bench", "orchestrate", "--case", "lone-2k", "--json", "-").json()["cases"]
    assert (case["flows"], case["interrupts"], case["executed_packet_hops"]) == (2000, 4000, 0)
    assert case["us_per_interrupt_cpu"] > 0


def test_wormhole_compares_with_packet_mode(sim):
    (case,) = sim("bench", "wormhole", "--case", "gpt-small-16", "--json", "-").json()["cases"]
    assert case["packet_hops"] == 6_550_240 and case["executed_share"] < 0.01
    assert case["gain_cold"] == case["packet_cpu_s"] / case["cold_cpu_s"]


def test_a_table_is_printed(sim):
    lines = sim("bench", "build", "--case", "incast-16").out.splitlines()
    assert lines[0].startswith("case") and lines[1].startswith("incast-16") and len(lines) == 2


def test_what_cannot_be_measured_is_refused(sim):
    for arguments, line in (
        (["pocket"], "bench pocket: is not known; what works: bench packet, bench orchestrate, bench build, bench wormhole"),
        (["packet", "--case", "incast"], "--case incast: did you mean 'incast-16'?"),
    ):
        done = sim("bench", *arguments)
        assert done.code == 2 and done.error.startswith(f"python -m sim: {line}"), done.error
