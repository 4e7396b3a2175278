"""No table is forgotten: each is in the archive, or it is said why it is not."""

from __future__ import annotations

from typing import Any, Final

import pytest
from flask import Flask
from sqlalchemy import select

from app import models
from app.db.extensions import db
from tests.exports.account_export.archives import archive_of
from tests.exports.account_export.full_account import make_full_account
from tests.make import Client

pytestmark = pytest.mark.both


# The file that the rows of a table are in, and the column by which they are found there.
FILES: Final = {
    "Account": ("account.json", "id"),
    "AccountUsage": ("account.json", "account_id"),
    "Asset": ("assets.geojson", "id"),
    "AuditCheckpoint": ("audit-log.ndjson", "hash"),
    "AuditEntry": ("audit-log.ndjson", "id"),
    "BillingCustomer": ("billing.json", "customer_id"),
    "BillingEvent": ("billing.json", "id"),
    "BoundaryEntry": ("boundary-history.ndjson", "id"),
    "CredentialRequest": ("usage.json", "credential_id"),
    "DeliveryLog": ("webhook-attempts.ndjson", "id"),
    "Event": ("events.ndjson", "id"),
    "Import": ("imports.json", "id"),
    "ImportFeature": ("import-features.ndjson", "import_id"),
    "Membership": ("members.json", "user_id"),
    "OAuthApplication": ("applications.json", "id"),
    "OAuthConsent": ("application-access.json", "application_id"),
    "Project": ("projects.geojson", "id"),
    "Replay": ("webhooks.json", "id"),
    "RequestCount": ("usage.json", "day"),
    "Webhook": ("webhooks.json", "id"),
}
KINDS: Final = {"api_key": "api-keys.json", "service_token": "service-tokens.json"}
_OF_A_PERSON: Final = "of a person, who may belong to other accounts too"
_OF_NOBODY: Final = "of somebody who is not signed in"
# Why the rows of others are in no file.
REASONS: Final = {
    "AttemptCount": "the sums of webhook-attempts.ndjson, for charts",
    "Authenticator": _OF_A_PERSON,
    "BillingSubscription": "which of the events in billing.json was applied last",
    "BoundaryShape": "simplified copies of boundaries, for maps",
    "Delivery": "the queue of webhook-attempts.ndjson",
    "IdempotentResponse": "copies of responses, for a day",
    "ImportFile": "the uploaded file, which is deleted when it was imported",
    "InstanceState": "of the instance",
    "Mail": "of the instance; the values of one may be secret",
    "MailedLink": _OF_A_PERSON,
    "OAuthAuthorization": "codes; what was allowed is in application-access.json",
    "OAuthToken": "tokens; likewise",
    "Passkey": _OF_A_PERSON,
    "PendingSignIn": _OF_A_PERSON,
    "RecoveryCode": _OF_A_PERSON,
    "Session": _OF_A_PERSON,
    "SignInAttempt": _OF_NOBODY,
    "SignInFailure": _OF_NOBODY,
    "SignInIdentity": _OF_A_PERSON,
    "SignUp": _OF_NOBODY,
    "SigningKey": "of the instance; audit-log.ndjson has the public half",
    "UsedChallenge": _OF_NOBODY,
    "User": f"{_OF_A_PERSON}; members.json has name and address",
}


def _rows(client: Client, name: str) -> list[Any]:
    """The account's rows of a table."""
    model: Any = getattr(models, name)
    column = model.id if name == "Account" else model.account_id
    with client.app.app_context():
        found = list(db.session.scalars(select(model).where(column == client.account_id)))
        db.session.expunge_all()
        db.session.rollback()
        return found


def test_each_table_has_its_place_or_its_reason() -> None:
    placed = {*FILES, "Credential"}
    assert not placed & REASONS.keys()
    assert placed | REASONS.keys() == set(models.__all__)


def test_each_row_is_in_the_file_of_its_table(
    app: Flask, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    client = make_full_account(app, monkeypatch).client
    archive = archive_of(client)
    for name, (file, column) in FILES.items():
        with subtests.test(name):
            values = {getattr(row, column) for row in _rows(client, name)}
            text = archive.text(file)
            assert values, f"make one in {make_full_account.__module__}"
            assert [value for value in values if str(value) not in text] == []
    with subtests.test("Credential"):
        credentials = _rows(client, "Credential")
        assert {each.kind for each in credentials} == KINDS.keys()
        for each in credentials:
            assert each.id in archive.text(KINDS[each.kind])


@pytest.mark.slow
def test_no_file_has_a_row_of_another_account(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    full, other = make_full_account(app, monkeypatch), make_full_account(app, monkeypatch)
    archive = archive_of(full.client)
    hidden = {other.client.account_id, other.project["id"], other.asset["id"], other.webhook["id"]}
    hidden |= {row.id for name in ("Event", "AuditEntry") for row in _rows(other.client, name)}
    for name in archive.names:
        text = archive.text(name)
        assert [value for value in hidden if value in text] == [], name
