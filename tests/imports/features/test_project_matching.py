"""Names with numbers."""

from __future__ import annotations

import pytest

from app.imports.features import project_lookup, project_matching
from app.imports.features.project_matching import ProjectMatcher, is_numbered, numbered_name
from app.values.text import slugify


def test_a_name_with_a_number_has_a_slug_of_its_own() -> None:
    for name, number, expected in (
        ("Riverside", 1, "Riverside"),
        ("Riverside", 2, "Riverside (2)"),
        ("n" * 70, 2, "(2) " + "n" * 70),
        ("n" * 200, 12, "(12) " + "n" * 195),
    ):
        assert numbered_name(name, number) == expected, name
        assert is_numbered(slugify(expected), name), name
        assert number == 1 or slugify(expected) != slugify(name), name


def test_the_slug_of_another_name_is_not_a_number_of_this_one() -> None:
    assert not is_numbered("riverside-east", "Riverside")
    assert not is_numbered("riverside-2-2", "Riverside")


def test_long_names_that_differ_at_their_ends_are_numbered_quickly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their slugs differ, but those with a number in front do not."""
    tried: list[int] = []

    def number(name: str, number: int) -> str:
        tried.append(number)
        return numbered_name(name, number)

    monkeypatch.setattr(project_matching, "numbered_name", number)
    slugs: set[str] = set()
    monkeypatch.setattr(project_lookup, "has_slug", lambda _, slug: slug in slugs)
    matcher, names = ProjectMatcher("account", "none"), [f"{'n' * 60}{n:03}" for n in range(200)]
    for name in names * 2:
        slugs.add(slugify(matcher.free_name(name)))
    assert len(slugs) == 2 * len(names)
    assert len(tried) < 10 * len(names)
