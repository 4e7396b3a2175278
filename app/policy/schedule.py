"""What is done again and again, and how often."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Periodic:
    """``name`` is made of letters, digits, ``-`` and ``_``; ``function_path`` is dotted."""

    name: str
    function_path: str
    every_seconds: int


PERIODIC: tuple[Periodic, ...] = (
    Periodic("write-counts", "app.usage.jobs.write_counts", 15),
    Periodic("send-mails", "app.mail.jobs.send_mails", 15),
    Periodic("forget-answers", "app.oauth.jobs.forget_answers", 30),
    Periodic("prune", "app.maintenance.jobs.prune", 3600),
)
