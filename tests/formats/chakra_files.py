"""Test helper: Chakra traces of a few nodes, written with the messages that the reader uses."""

import io

from google.protobuf import proto

from sim.formats.chakra_messages import GlobalMetadata, Node

COMP, SEND, RECV, COLL = 4, 5, 6, 7


def node(id, type, deps=(), name=None, us=0, ctrl=(), **attributes):
    """A node; whole numbers become int64_val, or uint64_val where the name ends in _u."""
    made = Node(id=id, name=name or f"n{id}", type=type, duration_us=us, data_deps=deps, ctrl_deps=ctrl)
    for key, value in attributes.items():
        attribute = made.attr.add(name=key.removesuffix("_u"))
        which = "string_val" if isinstance(value, str) else "bool_val" if isinstance(value, bool) else "uint64_val" if key.endswith("_u") else "int64_val"
        setattr(attribute, which, value)
    return made


def trace(*nodes, version="0.0.4") -> bytes:
    """The file of one rank."""
    out = io.BytesIO()
    for message in (GlobalMetadata(version=version), *nodes):
        proto.serialize_length_prefixed(message, out)
    return out.getvalue()


def all_reduce(id, size, deps=(), comm_type=0, **more):
    return node(id, COLL, deps, comm_type=comm_type, comm_size=size, **more)
