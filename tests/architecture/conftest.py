"""What the checks of the source files share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.architecture import sources


@pytest.fixture(scope="package", autouse=True)
def _forget_trees() -> Iterator[None]:
    """They take 100 MB. What is made once for a package keeps its tests in one worker, so that each
    file is parsed once."""
    yield
    sources.parse.cache_clear()
