"""The jobs of imports: one runs their steps, one deletes them."""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from flask import Flask, current_app
from sqlalchemy.exc import DBAPIError

from app.db.transactions import transaction
from app.imports.leases import (
    NEW_WORK,
    LeasedImport,
    LeaseLost,
    has_waiting_imports,
    lease_next,
    pause_import,
)
from app.imports.uploads import delete_old_upload_copies, has_copies
from app.jobs import shutdown
from app.jobs.registry import Job
from app.jobs.valkey import valkey
from app.policy.imports import EVERY_SECONDS, RUN_SECONDS

log = logging.getLogger(__name__)

_running_accounts: Final[set[str]] = set()  # whose imports threads of this process run
LOOK_SECONDS: Final = 0.5  # between looks for brief turns


def run_imports() -> int:
    """Run the steps that imports wait for, accounts in turns. Returns the number of steps.

    While one step takes long, a second thread gives brief turns to other accounts.
    """
    valkey().attempt(NEW_WORK.begin)
    delete_old_upload_copies()
    end, steps = time.monotonic() + RUN_SECONDS, 0
    while number := _run_until(end):
        steps += number
    return steps


def _run_until(end: float) -> int:
    """Run steps until none is left. Returns their number."""
    leased = _lease_import(end)
    if leased is None:
        return 0
    steps, is_over, app = 0, threading.Event(), current_app._get_current_object()  # type: ignore[attr-defined]
    with ThreadPoolExecutor(1, "brief-turns") as pool:
        brief = pool.submit(_run_brief, app, end, is_over)
        try:
            while leased is not None:
                _run_import(leased)
                steps += 1
                leased = _lease_import(end)
        finally:
            is_over.set()
    return steps + brief.result()


def _run_brief(app: Flask, end: float, is_over: threading.Event) -> int:
    """Run brief turns until ``is_over`` is set. Returns their number."""
    steps = 0
    with app.app_context():
        while not is_over.wait(LOOK_SECONDS):
            try:
                while (
                    not is_over.is_set()
                    and (leased := _lease_import(end, is_brief=True)) is not None
                ):
                    _run_import(leased)
                    steps += 1
            except DBAPIError:
                log.exception("brief turns of imports wait")
    return steps


def _lease_import(end: float, *, is_brief: bool = False) -> LeasedImport | None:
    if shutdown.requested.is_set() or time.monotonic() > end:
        return None
    with transaction():
        return lease_next(is_brief=is_brief, beside=_running_accounts)


def _run_import(leased: LeasedImport) -> None:
    from app.imports.steps import run_step  # noqa: PLC0415 - commands need no geometry

    _running_accounts.add(leased.account_id)
    try:
        run_step(leased, transaction)
    except Exception:  # other imports go on; this one is tried again
        log.exception("import %s: a step failed", leased.import_id)
        with suppress(LeaseLost), transaction():
            pause_import(leased)
    finally:
        _running_accounts.discard(leased.account_id)


def delete_imports() -> int:
    """Delete old imports, and the features of imports that ended without writing. Returns the
    number of imports."""
    from app.imports.deletion import delete_ended  # noqa: PLC0415 - commands need no geometry

    return delete_ended(transaction)


JOBS: Final = (
    Job(
        run_imports,
        every_seconds=EVERY_SECONDS,
        signal=NEW_WORK,
        is_due=lambda: has_waiting_imports() or has_copies(),
    ),
    Job(delete_imports, every_seconds=300),
)
