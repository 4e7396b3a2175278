"""The helper that goes on after a failed check reports every one of them."""

from __future__ import annotations

import pytest

from tests.cells import every_cell


def _check(numbers: dict[str, int], seen: list[str]) -> None:
    with every_cell() as cell:
        for name, number in numbers.items():
            with cell(name):
                seen.append(name)
                if not number:
                    raise ValueError(f"{name} is no number to divide by")
                assert 6 % number == 0, "is no divisor"


def test_each_failed_cell_is_named_and_the_others_are_checked() -> None:
    seen: list[str] = []
    with pytest.raises(AssertionError) as failed:
        _check({"two": 2, "four": 4, "nought": 0, "three": 3}, seen)
    assert seen == ["two", "four", "nought", "three"]
    lines = str(failed.value).splitlines()
    assert lines[0] == "2 cells failed"
    assert [line for line in lines if line.startswith(("two", "four", "nought", "three"))] == [
        "four: AssertionError: is no divisor",
        "nought: ValueError: nought is no number to divide by",
    ]


def test_nothing_is_raised_without_a_failure() -> None:
    _check({"two": 2}, [])
