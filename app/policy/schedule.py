"""What is done again and again, and how often."""

from __future__ import annotations

from dataclasses import dataclass

from app.policy.deliveries import REPLAYED_AT_ONCE, SWEEP_SECONDS


@dataclass(frozen=True, slots=True)
class Periodic:
    """``name`` is made of letters, digits, ``-`` and ``_``; ``function_path`` is dotted. With the
    name of a ``bell`` (``app.core.bells.BELLS``) that one is rung, which wakes the same job."""

    name: str
    function_path: str
    every_seconds: int
    bell: str | None = None


PERIODIC: tuple[Periodic, ...] = (
    Periodic("write-counts", "app.usage.jobs.write_counts", 15),
    Periodic("send-mails", "app.mail.jobs.send_mails", 15),
    Periodic("ring-deliveries", "app.webhooks.jobs.deliver", SWEEP_SECONDS, bell="deliveries"),
    Periodic("queue-replays", "app.webhooks.jobs.queue_replays", REPLAYED_AT_ONCE),
    Periodic("forget-answers", "app.oauth.jobs.forget_answers", 30),
    Periodic("prune", "app.maintenance.jobs.prune", 3600),
)
