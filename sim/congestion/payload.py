"""Payload bytes of a flow's first packets: whole payloads but for the last."""

from sim.jit import kernel


@kernel
def payload_sent(F, packets, payload):
    return min(packets * payload, F.size_bytes)
