"""Stands in for ``app/policy/schedule.py``, with short periods."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Periodic:
    name: str
    function_path: str
    every_seconds: int
    bell: str | None = None


PERIODIC = (
    Periodic("tick", "app.jobs.tick", 2),
    Periodic("ring", "app.webhooks.jobs.deliver", 60, bell="deliveries"),
)
