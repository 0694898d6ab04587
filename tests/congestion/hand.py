"""One flow's controller fed by hand: ACK after ACK, with chosen times, marks and telemetry."""

from sim.congestion import dispatch
from sim.jit import entry
from sim.packet.state import make_state
from sim.rows import bundle_of
from sim.scenario import Simulation, Transport
from sim.topology.from_file import network_from_text
from sim.transport import kernel_settings

NS, US = 10**3, 10**6  # ps
GBPS, MBPS = 10**9, 10**6  # bit/s

CHAIN = "4 2 3\n2 3\n0 2 100Gbps 1us 0\n2 3 100Gbps 1us 0\n3 1 100Gbps 1us 0\n"


@entry
def enter(s, i):
    dispatch.start(bundle_of(s), i)


@entry
def catch_up(s, i, now):
    dispatch.catch_up(bundle_of(s), i, now)


@entry
def feed(s, i, k, now):
    s = bundle_of(s)
    dispatch.catch_up(s, i, now)
    dispatch.on_ack(s, i, k, now)


class Flow:
    """A long flow over `links` links at `rate_bps` of `line_bps`; 8 us x 100 Gb/s make a window of 100 kB."""

    def __init__(self, controller, *, line_bps=100 * GBPS, rate_bps=None, links=2, base_rtt_ps=8 * US, arithmetic=None, **parameters):
        network = network_from_text(CHAIN)
        transport = Transport(congestion_control=controller, hpcc_arithmetic=arithmetic, parameters=parameters)
        settings = kernel_settings(transport, Simulation(), network)
        self.state = make_state(network, settings, used_ports=network.port_src[:0], hops_max=3, flow_slots=1, packets=2)
        self.set(
            size_bytes=10**9, packets=10**6, hops=links, base_rtt_ps=base_rtt_ps, line_bps=line_bps,
            rate_bps=rate_bps or line_bps, window_bytes=int(base_rtt_ps * 1e-12 * line_bps / 8),
        )  # fmt: skip
        enter(self.state, 0)

    def set(self, **columns):
        for name, value in columns.items():
            self.state.flow[name][0] = value

    def __getattr__(self, column):
        return self.state.flow[column][0].item()

    def ack(self, now_ps, number=1, *, sent=None, marked=False, rtt_ps=0, telemetry=()):
        """All below packet `number` is acknowledged while `sent` packets are out; telemetry: (ps, bytes, queue, rate) per hop."""
        if sent is not None:
            self.set(next_packet=sent)
        packet = self.state.packet
        packet["number"][0], packet["ecn"][0], packet["stamp"][0] = number, marked, now_ps - rtt_ps
        for hop, row in enumerate(telemetry):
            for name, value in zip(("time_ps", "tx_bytes", "queue_bytes", "rate_bps"), row, strict=True):
                self.state.telemetry[name][hop] = value
        feed(self.state, 0, 0, now_ps)
        return self.rate_bps

    def at(self, now_ps):
        """The rate once the timers due by `now_ps` have run."""
        catch_up(self.state, 0, now_ps)
        return self.rate_bps
