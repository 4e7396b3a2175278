"""JSON is read strictly and written compactly. app.values.strict_json."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.values.strict_json import Fragment, JsonInvalid, dumps, loads

LIMIT = 2**63

scalars = (
    st.none() | st.booleans() | st.integers(-LIMIT, LIMIT - 1) | st.floats(allow_nan=False,
    allow_infinity=False) | st.text()
)  # fmt: skip
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@pytest.mark.slow
@given(values)
@settings(deadline=None, database=None)
def test_what_python_writes_is_read_as_it_was(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert loads(text.encode()) == value


@pytest.mark.slow
@given(values)
@settings(deadline=None, database=None)
def test_what_is_written_is_read_by_python(value: Any) -> None:
    assert json.loads(dumps(value)) == value


@given(st.text(max_size=40) | st.binary(max_size=40))
@settings(deadline=None, database=None, max_examples=300)
def test_whatever_comes_is_a_value_or_refused(raw: str | bytes) -> None:
    data = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    try:
        value = loads(data)
    except JsonInvalid:
        return
    assert value == json.loads(data)


def test_where_a_text_is_not_utf_8_is_told() -> None:
    for raw, place in (
        (b'{"a": "\xff"}', " (line 1, column 8)"),
        ('{"ä":\n"ü'.encode() + b'\xc3"}', " (line 2, column 3)"),
        ('{"a": 1}'.encode("utf-16"), " (line 1, column 1)"),
        (b'{"a": "\xed\xa0\x80"}', " (line 1, column 8)"),
        (rb'{"a": "x\ud800"}', ": it has half of a surrogate pair (line 1, column 9)"),
        (b'{"a":\n"\\ud800\\u0041"}', ": it has half of a surrogate pair (line 2, column 2)"),
        (rb'{"\udc00": 1}', ": it has half of a surrogate pair (line 1, column 3)"),
    ):
        with pytest.raises(JsonInvalid) as caught:
            loads(raw)
        assert str(caught.value) == f"The body is not UTF-8{place}.", raw


def test_numbers_that_fit() -> None:
    for number in (LIMIT - 1, -LIMIT, 0, -0.0, 1e308, 5e-324, 10**18):
        assert loads(json.dumps(number).encode()) == number, number


def test_integers_past_64_bits_are_refused() -> None:
    for digits in [str(n) for n in (LIMIT, -LIMIT - 1, 2**64 - 1, 2**64, -(2**64), 10**19)] + [
        "1" + "0" * 5000
    ]:
        for around in ("{}", "[{}]", '{{"a": {}}}', '{{"a": [1, {{"b": {}}}]}}'):
            with pytest.raises(JsonInvalid):
                loads(around.format(digits).encode())


def test_long_numbers_that_fit() -> None:
    for number in (LIMIT - 1, -LIMIT, 10**18, 1.2345678901234567e18):
        for around in ("{}", '{{"a" :\t{}\n}}', "[1, {}, 0.12345678901234567890123]"):
            text = around.format(f"{number:.5f}" if isinstance(number, float) else number)
            assert loads(text.encode()) == json.loads(text), (number, around)


def test_digits_in_a_string_are_text() -> None:
    for text in ("1" * 30, "x9223372036854775808y", "9" * 19):
        assert loads(json.dumps({"a": text}).encode()) == {"a": text}, text


def test_a_name_twice_in_one_object_is_refused() -> None:
    for text in (
        '{"a": 1, "a": 1}',
        '{"a": 1, "b": 2, "a": 3}',
        '{"x": {"a": 1, "a": 2}}',
        '[{"a": 1}, {"b": 1, "b": 1}]',
        r'{"a": 1, "\u0061": 2}',
        r'{"\\": 1, "\u005c": 2}',
        r'{"\/": 1, "/": 2}',
        '{"": 1, "": 2}',
        '{"ä": 1, "\\u00e4": 2}',
        '{"a\\"": 1, "a\\"": 2}',
        '{"a" : 1, "a"\n:\t2}',
    ):
        with pytest.raises(JsonInvalid, match="repeats"):
            loads(text.encode())


def test_the_name_that_stands_twice_is_told() -> None:
    with pytest.raises(JsonInvalid, match="repeats the name 'b' in one object"):
        loads(b'[{"a": 1}, {"a": 2}, {"b": 1, "a": 1, "b": 2}]')


def test_the_same_name_elsewhere_is_taken() -> None:
    for text in (
        '[{"a": 1}, {"a": 2}]',
        '{"a": {"a": {"a": 1}}}',
        '{"a": "a", "b": "a"}',
        r'{"a": "\"a\": 1", "b": 2}',
        r'{"a\\": 1, "a": 2}',
        '{"a": ["a", "a", "a"]}',
        '{"a": "x\\\\", "b": ": \\"a\\":"}',
    ):
        assert loads(text.encode()) == json.loads(text), text


def test_a_fragment_goes_out_as_it_is() -> None:
    assert dumps({"a": Fragment('{"b":1.50}')}) == b'{"a":{"b":1.50}}'
