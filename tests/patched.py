"""A plugin of pytest: what all tests change in the product, which else runs as it is shipped.

* Times. With the service's own, what got no turn on a busy machine would be given up. Valkey would
  be down after a quarter of a second: nothing would be counted, and no job be put on a queue. A
  fault of a boundary would not be located after 5 ms. A test of these times uses the fixture
  ``impatient``.
* The URLs of routes, which hundreds of applications would compile again.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

import pytest
from werkzeug.routing import Rule

from app.api import expensive
from app.doctor.checks import valkey as doctor
from app.geometry import boundary
from app.imports import leases
from app.jobs import runs, valkey, valkey_client, wake_signals
from app.mail import jobs as mail
from app.mail import smtp
from app.maintenance import pruning
from app.outbound import exchange
from app.outbound.client import Egress
from app.people.single_sign_on import provider
from app.policy import chat
from app.projects.boundaries import overlaps
from app.values import clock
from app.webhooks.deliveries import dispatcher, webhook_queue

_LONG: Final = 30.0  # seconds
_ENDLESS: Final = 600.0
_TIMES: Final[tuple[tuple[ModuleType, str, Any], ...]] = (
    (valkey, "TIMEOUT_SECONDS", _LONG),
    (wake_signals, "TIMEOUT_SECONDS", _LONG),
    (doctor, "TIMEOUT_SECONDS", _LONG),
    (doctor, "WAITS_SECONDS", _LONG),
    (valkey_client, "SENTINEL_TIMEOUT", _LONG),
    (boundary, "LOCATED_HERE", (_LONG, 0.0)),
    (boundary, "SEARCH_SECONDS", (_LONG, _LONG)),
    (boundary, "FIRST_FAULT_SECONDS", _LONG),
    (overlaps, "OVERLAPS_SECONDS", _LONG),
    # The database's clock is this machine's; an answer that took long must not set ours back.
    (clock, "TOLERATED", 10.0),
    (expensive, "EXPENSIVE_WAIT_SECONDS", _LONG),
    (expensive, "EXPENSIVE_AFTER_SECONDS", _LONG),
    (expensive, "REQUEST_SECONDS", _LONG),
    (exchange, "BODY_SECONDS", _LONG),
    (provider, "REQUEST_SECONDS", _LONG),
    (chat, "CONNECT_SECONDS", _LONG),
    (smtp, "REPLY_TIMEOUT", _LONG),
    # What has waited for its turn is given up for another to take it.
    (dispatcher, "QUEUED_SECONDS", _ENDLESS),
    (webhook_queue, "QUEUED_SECONDS", _ENDLESS),
    (dispatcher, "END_SECONDS", _LONG),
    (leases, "LEASE_SECONDS", _ENDLESS),
    # A job leaves the rest to the next one.
    (runs, "RUN_SECONDS", _ENDLESS),
    (pruning, "RUN_SECONDS", _ENDLESS),
    (mail, "RUN_FOR", _ENDLESS),
)
_OWN: Final = [getattr(module, name) for module, name, _ in _TIMES]
_ATTEMPT: Final = Egress.post.__kwdefaults__
_ATTEMPT_SECONDS: Final = _ATTEMPT["seconds"]


@pytest.fixture(scope="session", autouse=True)
def _patient() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in _TIMES:
            patch.setattr(module, name, value)
        patch.setitem(_ATTEMPT, "seconds", _LONG)
        yield


@pytest.fixture(scope="session", autouse=True)
def _routes_compiled_once() -> Iterator[None]:
    """What builds the URLs of a route is compiled once for all applications that the tests make:
    it is most of what it takes to make one."""
    compile_one, made = Rule._compile_builder, {}

    def compile_once(rule: Rule, append_unknown: bool = True) -> Any:
        key = (append_unknown, rule.rule, tuple(rule._trace), repr(rule.defaults))
        if key not in made:
            made[key] = compile_one(rule, append_unknown)
        return made[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "_compile_builder", compile_once)
        yield


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The application has the service's own times."""
    for (module, name, _), value in zip(_TIMES, _OWN, strict=True):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setitem(_ATTEMPT, "seconds", _ATTEMPT_SECONDS)
