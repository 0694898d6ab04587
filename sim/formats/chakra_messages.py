"""The protobuf messages of Chakra execution traces, described to the protobuf library at run time.

Only the fields that are read are described; the library skips the others, as protobuf prescribes.
"""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_TYPE = descriptor_pb2.FieldDescriptorProto
INTEGERS = {"int32_val": 7, "int64_val": 9, "uint32_val": 11, "uint64_val": 13}
_FIELDS = {
    "Attribute": [
        ("name", 1, _TYPE.TYPE_STRING), ("double_val", 3, _TYPE.TYPE_DOUBLE), ("float_val", 5, _TYPE.TYPE_FLOAT),
        ("int32_val", 7, _TYPE.TYPE_INT32), ("int64_val", 9, _TYPE.TYPE_INT64), ("uint32_val", 11, _TYPE.TYPE_UINT32),
        ("uint64_val", 13, _TYPE.TYPE_UINT64), ("bool_val", 27, _TYPE.TYPE_BOOL), ("bool_list", 28, _TYPE.TYPE_MESSAGE),
        ("string_val", 29, _TYPE.TYPE_STRING),
    ],
    "BoolList": [("values", 1, _TYPE.TYPE_BOOL)],
    "GlobalMetadata": [("version", 1, _TYPE.TYPE_STRING)],
    "Node": [
        ("id", 1, _TYPE.TYPE_UINT64), ("name", 2, _TYPE.TYPE_STRING), ("type", 3, _TYPE.TYPE_INT32),
        ("ctrl_deps", 4, _TYPE.TYPE_UINT64), ("data_deps", 5, _TYPE.TYPE_UINT64), ("duration_us", 7, _TYPE.TYPE_UINT64),
        ("attr", 10, _TYPE.TYPE_MESSAGE),
    ],
}  # fmt: skip
_REPEATED = ("ctrl_deps", "data_deps", "attr", "values")
_MESSAGE_OF = {"attr": "Attribute", "bool_list": "BoolList"}
_VALUES = ("double_val", "float_val", *INTEGERS, "bool_val", "bool_list", "string_val")  # of which an attribute has one


def _described() -> dict:
    file = descriptor_pb2.FileDescriptorProto(name="chakra_trace.proto", package="chakra_trace", syntax="proto3")
    for message, rows in _FIELDS.items():
        described = file.message_type.add(name=message)
        if message == "Attribute":
            described.oneof_decl.add(name="value")
        for name, number, kind in rows:
            field = described.field.add(name=name, number=number, type=kind, label=_TYPE.LABEL_REPEATED if name in _REPEATED else _TYPE.LABEL_OPTIONAL)
            if name in _MESSAGE_OF:
                field.type_name = f".chakra_trace.{_MESSAGE_OF[name]}"
            if message == "Attribute" and name in _VALUES:
                field.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"chakra_trace.{name}")) for name in _FIELDS}


_CLASSES = _described()
Attribute = _CLASSES["Attribute"]
GlobalMetadata = _CLASSES["GlobalMetadata"]
Node = _CLASSES["Node"]
