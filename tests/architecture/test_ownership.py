"""Only ``WebhookQueue`` changes its own state."""

from __future__ import annotations

import pytest

from tests.architecture.ownership import OWNED, foreign_changes, owner
from tests.architecture.sources import sources

OWN = """
class WebhookQueue:
    def __init__(self):
        self.health = 1
        self._queued = []
        self.pending, self._failures = 1, 0

    def learn(self):
        self._failures += 1
"""


def _changes(text: str, module: str = "app.deliveries.scheduler") -> list[str]:
    return list(foreign_changes({OWNED["WebhookQueue"]: OWN, module: text}))


def test_only_a_webhook_queue_changes_its_state() -> None:
    assert list(foreign_changes(sources())) == []


def test_the_attributes_are_known() -> None:
    found = owner("WebhookQueue", OWNED["WebhookQueue"], sources())
    assert found.attributes >= {"health", "has_more", "_queued", "_in_flight", "_failures"}
    assert "health" not in found.private


@pytest.mark.parametrize(
    "line",
    [
        "queue._failures = 0",
        "queue._failures += 1",
        "queue._queued.append(1)",
        "queue._queued[0] = 1",
        "del queue._queued[0]",
        "deliveries = self.queues[1]._queued",
        "queue.health = 1",
        "queue.health, other = 1, 2",
        "self.queue.health = 1",
        "self.queues['a'].health = 1",
        "del queue.health",
        "for queue.health in (1, 2): pass",
        "queue.pending.url = ''",
        "self.queue.pending.secrets[0] = ''",
        "setattr(queue, name, 1)",
        "object.__setattr__(queue, name, 1)",
        "queue.__dict__[name] = 1",
        "vars(queue)[name] = 1",
        "class Faster(WebhookQueue): pass",
        "class Faster(webhook_queue.WebhookQueue): pass",
    ],
)
def test_a_change_from_elsewhere_is_seen(line: str) -> None:
    assert _changes(line)


@pytest.mark.parametrize(
    "text",
    [
        "from app.deliveries.webhook_queue import WebhookQueue",
        "import app.deliveries.webhook_queue",
    ],
)
def test_a_module_elsewhere_that_imports_the_class_is_checked(text: str) -> None:
    assert _changes(f"{text}\nqueue.health = 1", "app.bees.flight")


@pytest.mark.parametrize(
    "line",
    [
        "queue.learn()",
        "print(queue.health, queue.pending.url)",
        "self.health = 1",
        "self._queued.append(1)",
        "self.scheduler.share = 1",
        "health = queue.health",
        "self.deliveries[queue.pending] = 1",
    ],
)
def test_what_leaves_a_webhook_queue_as_it_is_passes(line: str) -> None:
    assert _changes(line) == []


def test_a_module_without_the_class_has_names_of_its_own() -> None:
    assert _changes("child.health = 1", "app.running.supervisor") == []
