"""Payload bytes of a flow's first packets: whole payloads but for the last."""

from sim.jit import kernel


@kernel
def payload_sent(F, packets, payload):
    """Bytes of payload in the first `packets` packets of flow `F`."""
    return min(packets * payload, F.size_bytes)
