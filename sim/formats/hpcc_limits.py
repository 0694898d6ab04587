"""Values of an HPCC configuration that this network or these packets do not allow, told by file, line, key and unit of the file."""

import math

from sim.congestion.registry import CONTROLLERS, bounds
from sim.errors import FormatError
from sim.formats.hpcc_config import HpccConfig
from sim.scenario import Transport
from sim.topology.network import Network
from sim.transport import buffer_need
from sim.units import show_bytes, show_number

BYTES_PER_MIB = 2**20
MAX_ACK_EVERY = 1024  # data packets per ACK, of a scenario
STEPS = {"RATE_AI": "additive_mbps", "DCTCP_RATE_AI": "additive_mbps", "RATE_HAI": "hyper_mbps"}  # scaled with the line rate


def check_ack_interval(config: HpccConfig) -> None:
    """FormatError where an ACK would answer more packets than one can."""
    most = MAX_ACK_EVERY * config.payload_bytes
    if config.ack_interval_bytes > most:
        raise FormatError(
            f"{config.place('L2_ACK_INTERVAL')}: must be from 0 to {most} B, {MAX_ACK_EVERY} packets of {config.payload_bytes} B; the nearest is {most}"
        )


def check_steps(config: HpccConfig, transport: Transport, scale: float) -> None:
    """FormatError for steps of the rate that are out of bounds at the reference rate. `scale`: from the NICs' rate to that."""
    known = {parameter.name: parameter for parameter in CONTROLLERS[transport.congestion_control].PARAMETERS}
    dctcp = transport.congestion_control == "dctcp"
    for key, name in STEPS.items():
        value = transport.parameters.get(name)
        if value is None or (dctcp != key.startswith("DCTCP") and name == "additive_mbps"):
            continue
        low, high = bounds(known[name])
        if not low <= value <= high:
            least, most = (f"{show_number(bound / scale)}Mb/s" for bound in (low, high))
            raise FormatError(f"{config.place(key)}: must be from {least} to {most} with NICs of this rate; the nearest is {least if value < low else most}")


def check_buffer(config: HpccConfig, transport: Transport, network: Network) -> None:
    """FormatError for a buffer that does not hold what PFC sets aside in some switch."""
    need, _, name, ports = buffer_need(transport, network)
    if need > config.buffer_mib * BYTES_PER_MIB:
        raise FormatError(
            f"{config.place('BUFFER_SIZE')}: must be MiB that hold the PFC thresholds and headroom of the {ports} ports of switch {name}, "
            f"{show_bytes(need)}; the nearest is {math.ceil(need / BYTES_PER_MIB)}"
        )
