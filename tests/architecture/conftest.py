"""What the checks of the source files share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture import sources


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """They run in one worker, which parses each file once."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("architecture"))


@pytest.fixture(scope="package", autouse=True)
def _forget_trees() -> Iterator[None]:
    """They take 100 MB."""
    yield
    sources.parse.cache_clear()
