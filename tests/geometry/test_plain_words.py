"""The words for problems of boundaries on pages."""

from __future__ import annotations

import re

import pytest

from app.geometry import GeometryInvalid, read_boundary
from app.geometry.plain_words import plain_message
from tests.geometry import refused_drawing, refused_structure

_OF_THE_API = re.compile(r"`|\b(part|ring|position) \d|\.type\b", re.IGNORECASE)
_TABLES = {
    f"{module.__name__}.{name}": value
    for module in (refused_drawing, refused_structure)
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, dict)
}


def test_no_problem_of_a_drawing_has_indices_or_members(subtests: pytest.Subtests) -> None:
    said = set()
    for table, cases in _TABLES.items():
        for case, (value, _) in cases.items():
            with subtests.test(table=table, case=case), pytest.raises(GeometryInvalid) as refused:
                read_boundary(value)
            for problem in refused.value.problems:
                message = plain_message(problem.code, problem.message)
                said.add(message)
                with subtests.test(message=message):
                    assert not _OF_THE_API.search(message)
                    assert message[0].isupper()
    assert "Two sides cross or touch here. Move a corner until they no longer do." in said
    assert len(said) > 30


def test_numbers_that_tell_what_is_wrong_stay() -> None:
    message = (
        "Part 0, ring 1, position 17 is out of range: longitude 500.5 is not within -180 to 180"
    )
    assert plain_message("out_of_range", message) == "Longitude 500.5 is not within -180 to 180"


def test_what_is_before_a_colon_stays() -> None:
    message = 'Position 0 has a longitude that is not a number: "{{x}}".'
    plain = 'This corner has a longitude that is not a number: "{{x}}".'
    assert plain_message("not_a_number", message) == plain
