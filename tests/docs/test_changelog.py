"""The changelog and the service agree on the version."""

from __future__ import annotations

import re

from app.values.version import VERSION
from tests.architecture.documents import documents

_RELEASE = re.compile(r"^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$", re.MULTILINE)


def test_the_newest_release_is_the_version_of_the_service() -> None:
    assert _RELEASE.findall(documents()["CHANGELOG.md"])[0] == VERSION
