"""Faults that are summed."""

from __future__ import annotations

from typing import Any

from app.imports.features.summary import FaultCounts
from app.policy.imports import FAULTS


def row(number: int, *problems: tuple[str, str]) -> dict[str, Any]:
    records = [{"code": code, "message": message} for code, message in problems]
    return {"number": number, "problems": records}


def test_messages_that_differ_in_numbers_are_one_fault() -> None:
    faults = FaultCounts()
    line = ("wrong_type", "The feature is a line.")
    faults.add(row(1))
    faults.add(
        row(2, ("out_of_range", "Ring 0, position 4 is out of range: latitude 95.5 is not …"))
    )
    faults.add(row(3, line))
    other = ("out_of_range", "Ring 3, position 12 is out of range: latitude -99 is not …")
    faults.add(row(4, line, line, other))
    faults.add(row(5, line))
    assert faults.as_json() == [
        {"code": "wrong_type", "message": line[1], "features": 3, "first": 3},
        {
            "code": "out_of_range",
            "message": "Latitude 95.5 is not …",
            "features": 2,
            "first": 2,
        },
    ]


def test_there_is_a_bound() -> None:
    faults = FaultCounts()
    for number in range(FAULTS + 5):
        faults.add(row(number, ("not_valid", "x" * number)))
    faults.add(row(99, ("not_valid", "")))
    found = faults.as_json()
    assert len(found) == FAULTS
    assert found[0]["features"] == 2
