"""Stands in for ``app/policy/schedule.py``, with short periods."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Periodic:
    name: str
    function_path: str
    every_seconds: int


PERIODIC = (Periodic("tick", "app.jobs.tick", 2),)
