"""The changelog agrees with the service on the version, and says of each how to upgrade to it."""

from __future__ import annotations

import re

from app.values.version import VERSION
from tests.architecture.documents import documents

_RELEASE = re.compile(r"^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$", re.MULTILINE)
_SECTION = re.compile(r"^## ", re.MULTILINE)


def test_the_newest_release_is_the_version_of_the_service() -> None:
    assert _RELEASE.findall(documents()["CHANGELOG.md"])[0] == VERSION


def test_every_section_says_first_how_to_upgrade() -> None:
    _, unreleased, *releases = _SECTION.split(documents()["CHANGELOG.md"])
    sections = releases if unreleased.strip() == "Unreleased" else [unreleased, *releases]
    assert sections
    without = [each.splitlines()[0] for each in sections if "\n\n### Upgrade\n\n- " not in each]
    assert without == []
