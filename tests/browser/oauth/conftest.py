"""An account that registers applications in the running instance, and where they wait."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.conftest import Instance
from tests.browser.oauth.running import Loopback, loopback
from tests.browser.oauth.woods import SCOPES, Application, Woods, make_woods, numbers, operator


@pytest.fixture(scope="session")
def woods(instance: Instance) -> Iterator[Woods]:
    """One for all tests of this process."""
    with operator(instance.environment) as operate:
        yield make_woods(instance, operate)


@pytest.fixture
def back() -> Iterator[Loopback]:
    """Where an application waits."""
    with loopback() as made:
        yield made


@pytest.fixture
def application(woods: Woods) -> Application:
    """A new one with a secret, which may ask for ``SCOPES``."""
    return woods.register(f"Map {next(numbers)}", *SCOPES)
