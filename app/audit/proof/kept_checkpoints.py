"""Checkpoints that somebody kept, in every form in which they can be had."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from app.audit.proof.checkpoint import Checkpoint


def read_kept(text: bytes) -> list[Checkpoint]:
    """Read kept checkpoints: a response of the API, a list, or one on each line, as in exports and
    events.

    Raises:
        ValueError: there are none.
    """
    try:
        records = [json.loads(text)]
    except (ValueError, RecursionError):
        records = [json.loads(line) for line in text.splitlines() if line.strip()]
    found = [Checkpoint.of(each) for record in records for each in _checkpoints_in(record)]
    if not found:
        raise ValueError("there is no checkpoint in it")
    return found


def _checkpoints_in(record: Any) -> Iterator[Any]:
    if isinstance(record, list):
        for each in record:
            yield from _checkpoints_in(each)
    elif isinstance(record, Mapping):
        inner = record.get("data", record.get("checkpoint"))
        if isinstance(inner, list | Mapping):
            yield from _checkpoints_in(inner)
        elif "previous_hash" in record:
            yield record
