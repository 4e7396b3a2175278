"""Fields refuse what is too long before they look at it. app.values.schemas."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
import pytest
from marshmallow import fields

from app.values.schemas import BoundedList, Text, Timestamp
from tests.normalizing import refuse_to_normalize_long_texts

MARKS = "\u0301\u0316"


class Unread(fields.Field[Any]):
    """An element that fails the test when it is looked at."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> Any:
        raise AssertionError("an element was looked at")


def refusal(field: fields.Field[Any], value: Any) -> list[str]:
    with pytest.raises(ma.ValidationError) as refused:
        field.deserialize(value)
    return [str(message) for message in refused.value.messages]


def test_the_elements_of_a_long_list_are_not_looked_at() -> None:
    assert refusal(BoundedList(Unread(), longest=5), [1] * 6) == ["Must have at most 5 elements."]
    assert refusal(BoundedList(Unread(), shortest=1, longest=5), []) == [
        "Must have 1 to 5 elements."
    ]


def test_a_list_within_its_bound_is_read() -> None:
    assert BoundedList(fields.Integer(), longest=2).deserialize([1, 2]) == [1, 2]
    assert refusal(BoundedList(fields.Integer(), longest=2), "ab") == ["Must be an array."]


def test_a_long_text_is_refused_for_its_length() -> None:
    for text in ("x" * 101, "\x00" * 101, "a" + MARKS * 50, "é" * 101):
        assert refusal(Text(longest=100), text) == ["Must have at most 100 characters."], text


def test_a_text_that_takes_long_to_normalize_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_to_normalize_long_texts(monkeypatch)
    message = "Must not have more than 30 combining marks in a row."
    assert refusal(Text(longest=10_000), "a" + MARKS * 4_999) == [message]


def test_marks_of_scripts_are_taken() -> None:
    for text in ("e\u0301" * 500, "a" + MARKS * 15, "กำลัง" * 20, "ế" * 50):
        assert Text(longest=10_000).deserialize(text) == text, text


def test_a_long_time_is_refused() -> None:
    (message,) = refusal(Timestamp(), "ß" * 5_000_000)
    assert "Must be an RFC 3339 timestamp" in message
