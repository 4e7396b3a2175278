"""Tests that share a set-up run in one worker."""

from __future__ import annotations

import pytest
import xdist


@pytest.fixture(scope="module")
def _shared() -> None:
    """What makes a group of this module."""


@pytest.mark.usefixtures("_shared")
def test_a_module_with_a_set_up_of_its_own_is_a_group(request: pytest.FixtureRequest) -> None:
    """pytest-xdist 3.8 sees no group with pytest 9.2 and says nothing; then each worker sets up
    everything again (pytest-dev/pytest-xdist#1386)."""
    if not xdist.is_xdist_worker(request):
        pytest.skip("groups are of tests that run in parallel")
    assert request.node.nodeid.endswith("@tests/test_tiers.py None")
