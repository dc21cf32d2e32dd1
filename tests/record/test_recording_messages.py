"""The generated message definition says exactly what lies in the bytes of a record."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from pliant.control.telemetry import TELEMETRY
from pliant.errors import InputError
from pliant.record import record_messages
from pliant.records import Field, Layout


def ros_values(layout: Layout, data: bytes) -> Any:
    """The message as `rosbags` reads it, knowing nothing but the generated definition."""
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(record_messages.definition(layout), record_messages.message_type(layout)))
    return store.deserialize_cdr(data, record_messages.message_type(layout))


def assert_equal_bits(layout: Layout, record: Any, message: Any) -> None:
    for field in layout.fields:
        ours, theirs = record[field.name], getattr(message, field.name)
        if isinstance(field.kind, Layout):
            assert_equal_bits(field.kind, ours, theirs)
        else:
            assert np.asarray(ours).ravel().tobytes() == np.asarray(theirs, field.kind).tobytes(), field.name


def test_rosbags_reads_the_raw_bytes_of_a_telemetry_record(random_run):
    for record in random_run(20):
        message = ros_values(TELEMETRY, record_messages.CDR_HEADER + record.tobytes())
        assert_equal_bits(TELEMETRY, record, message)


def test_rosbags_writes_the_raw_bytes_of_a_telemetry_record(random_run):
    data = record_messages.CDR_HEADER + random_run(1)[0].tobytes()
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(record_messages.definition(TELEMETRY), record_messages.message_type(TELEMETRY)))
    message = store.deserialize_cdr(data, record_messages.message_type(TELEMETRY))
    assert bytes(store.serialize_cdr(message, record_messages.message_type(TELEMETRY))) == data


def test_two_dimensional_parameters_are_flattened_by_rows(parameters):
    record = parameters.new()
    record["stiffness"] = np.arange(36.0).reshape(6, 6)
    message = ros_values(parameters, record_messages.CDR_HEADER + record.tobytes())
    assert message.stiffness.tolist() == list(range(36))


def test_the_definition_names_unit_and_meaning():
    text = record_messages.definition(TELEMETRY)
    assert "float64[12] q # [rad] joint positions\n" in text
    assert "int64 tick # number of the tick\n" in text
    assert "MSG: pliant_msgs/Reading\n" in text


def test_a_parsed_definition_is_the_layout_that_wrote_it(parameters):
    for layout in (TELEMETRY, parameters):
        assert record_messages.parse(layout.name, record_messages.definition(layout)) == layout


def layouts(depth: int) -> st.SearchStrategy[Layout]:
    """Random layouts; the names of nested ones follow from their field, as in a dtype."""
    names = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
    shapes = st.sampled_from([(), (1,), (6,), (2, 3), (1, 2, 2)])
    scalar = st.sampled_from(["f8", "i8"])
    kinds = scalar if depth == 0 else st.one_of(scalar, layouts(depth - 1).map(lambda inner: inner.dtype))
    members = st.lists(st.tuples(names, kinds, shapes), min_size=1, max_size=4, unique_by=lambda m: m[0])
    return members.map(lambda found: record_messages.layout_of("Set", np.dtype(found)))


@given(layouts(2))
def test_any_packed_dtype_survives_definition_and_parse(layout: Layout):
    parsed = record_messages.parse("Set", record_messages.definition(layout))
    assert parsed == layout
    assert parsed.dtype.itemsize == layout.dtype.itemsize


@pytest.mark.parametrize(
    ("dtype", "named"),
    [
        (np.dtype([("gain", "f4")]), "Set.gain"),
        (np.dtype([("gain", ">f8")]), "Set.gain"),
        (np.dtype([("on", "?"), ("gain", "f8")], align=True), "Set"),
        (np.dtype({"names": ["a", "b"], "formats": ["f8", "f8"], "offsets": [0, 16]}), "Set.b"),
        (np.dtype("f8"), "Set"),
    ],
)
def test_a_dtype_that_is_not_packed_8_byte_numbers_is_refused_by_name(dtype: Any, named: str):
    with pytest.raises(InputError, match=named):
        record_messages.layout_of("Set", dtype)


def test_two_nested_records_of_one_name_must_be_the_same():
    one, other = Layout("Gain", (Field("a", "", ""),)), Layout("Gain", (Field("b", "", ""),))
    with pytest.raises(InputError, match=r"Set\.two"):
        record_messages.definition(Layout("Set", (Field("one", "", "", kind=one), Field("two", "", "", kind=other))))


def test_the_difference_of_two_dtypes_is_told_by_its_first_field():
    ours = np.dtype([("a", "f8"), ("b", [("c", "f8"), ("d", "f8", (6,))])])
    assert record_messages.difference(ours, ours) == ""
    assert record_messages.difference(ours, np.dtype([("a", "f8"), ("b", [("c", "f8")])])) == "b.d is missing"
    assert record_messages.difference(ours, np.dtype([("a", "i8"), ours.descr[1]])) == "a is int64 instead of float64"
    assert "a different order" in record_messages.difference(ours, np.dtype([ours.descr[1], ("a", "f8")]))
