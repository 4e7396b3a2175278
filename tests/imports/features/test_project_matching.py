"""Names with numbers."""

from __future__ import annotations

import pytest

from app.imports.features.project_matching import is_numbered, numbered
from app.values.text import slugify


@pytest.mark.parametrize(
    ("name", "number", "expected"),
    [
        ("Riverside", 1, "Riverside"),
        ("Riverside", 2, "Riverside (2)"),
        ("n" * 70, 2, "(2) " + "n" * 70),
        ("n" * 200, 12, "(12) " + "n" * 195),
    ],
)
def test_a_name_with_a_number_has_a_slug_of_its_own(name: str, number: int, expected: str) -> None:
    assert numbered(name, number) == expected
    assert is_numbered(slugify(expected), name)
    assert number == 1 or slugify(expected) != slugify(name)


def test_the_slug_of_another_name_is_not_a_number_of_this_one() -> None:
    assert not is_numbered("riverside-east", "Riverside")
    assert not is_numbered("riverside-2-2", "Riverside")
