"""Fixtures: an account that registers applications, and a loopback server for redirects."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.conftest import Instance
from tests.browser.oauth.chains import PRIVATE, Chain, redirect_chains
from tests.browser.oauth.running import Loopback, loopback
from tests.browser.oauth.woods import BACK, SCOPES, Application, Woods, make_woods, numbers


@pytest.fixture
def woods(instance: Instance) -> Woods:
    """A new account."""
    return make_woods(instance)


@pytest.fixture
def back() -> Iterator[Loopback]:
    """A server that receives redirects."""
    with loopback() as listening:
        yield listening


@pytest.fixture
def chains() -> Iterator[dict[str, Chain]]:
    """Where the application may lead on to."""
    with redirect_chains() as all_chains:
        yield all_chains


@pytest.fixture
def application(woods: Woods) -> Application:
    """A new application with a secret, which may request ``SCOPES``."""
    return woods.register(f"Map {next(numbers)}", *SCOPES, uris=(BACK, PRIVATE))
