"""The jobs that wipe stored token responses, and delete tokens whose authorization is gone."""

from __future__ import annotations

from typing import Final

from sqlalchemy import exists, select

from app.auth.tenant import select_of_all_accounts
from app.db.batched_deletion import delete_batches
from app.db.queries import CompiledQuery
from app.db.transactions import transaction
from app.jobs.registry import Job
from app.jobs.runs import JobRun
from app.models import OAuthAuthorization, OAuthToken
from app.oauth.issuing import has_expired_successors, wipe_expired_successors

BATCH_ROWS: Final = 500  # per transaction
_FAMILIES: Final = 1_000  # looked for at a time
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
    wiped, number = 0, BATCH_ROWS
    while number == BATCH_ROWS:
        with transaction():
            number = wipe_expired_successors(BATCH_ROWS)
        wiped += number
    return wiped


def delete_tokens() -> int:
    """Delete the tokens of deleted authorizations. Returns the number of finished ones."""
    run, deleted = JobRun(), 0
    for family in _WITHOUT_AUTHORIZATION.all():
        tokens = select(OAuthToken).where(OAuthToken.authorization_id == family.authorization_id)
        if not run.commit_each(delete_batches(OAuthToken, tokens)):
            break
        deleted += 1
    return deleted


JOBS: Final = (
    Job(wipe_successors, every_seconds=30, is_due=has_expired_successors),
    Job(delete_tokens, every_seconds=300),
)
