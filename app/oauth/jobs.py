"""The jobs that wipe stored token responses, and delete tokens whose authorization is gone."""

from __future__ import annotations

import time
from typing import Final

from sqlalchemy import exists, select

from app.auth.tenant import select_of_all_accounts
from app.db.batched_deletion import delete_batches
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.transactions import transaction
from app.jobs.pauses import pause_after
from app.jobs.registry import Job
from app.models import OAuthAuthorization, OAuthToken
from app.oauth.issuing import has_expired_successors, wipe_expired_successors

_BATCH_ROWS: Final = 500  # per transaction
_RUN_SECONDS: Final = 10.0  # mails and all other jobs wait for it
_FAMILIES: Final = 1_000  # looked for at once
_WITHOUT_AUTHORIZATION: Final = CompiledQuery(
    select_of_all_accounts(OAuthToken.authorization_id)
    .distinct()
    .where(~exists().where(OAuthAuthorization.id == OAuthToken.authorization_id))
    .limit(_FAMILIES)
)


def wipe_successors() -> int:
    """Wipe the stored responses of refresh tokens whose grace period is over. Returns their number.

    The tokens themselves are kept until their authorization is deleted, so that reuse is detected.
    """
    wiped, number = 0, _BATCH_ROWS
    while number == _BATCH_ROWS:
        with transaction():
            number = wipe_expired_successors(_BATCH_ROWS)
        wiped += number
    return wiped


def delete_tokens() -> int:
    """Delete the tokens of authorizations that were deleted. Returns how many of these have none
    left.

    Stops after ``_RUN_SECONDS`` or when the worker is asked to stop; the next run continues.
    """
    end, done = time.monotonic() + _RUN_SECONDS, 0
    for family in _WITHOUT_AUTHORIZATION.all():
        if not _delete_family(family.authorization_id, end):
            break
        done += 1
    return done


def _delete_family(authorization_id: str, end: float) -> bool:
    """Delete the tokens of a family. Returns False if there was no time for all of them."""
    tokens = select(OAuthToken).where(OAuthToken.authorization_id == authorization_id)
    began = time.monotonic()
    with transaction():
        for _ in delete_batches(OAuthToken, tokens):
            db.session.commit()
            if pause_after(began) or time.monotonic() > end:
                return False
            began = time.monotonic()
    return True


JOBS: Final = (
    Job(wipe_successors, every_seconds=30, is_due=has_expired_successors),
    Job(delete_tokens, every_seconds=300),
)
