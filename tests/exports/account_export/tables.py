"""What an account can hold, table by table: where an archive has it, and if an import takes it.

A new table has to be decided about here. Backups have every table, and deleting an account leaves
no row of one.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import undefer

from app import models
from app.db.extensions import db
from tests.make import Client


class Exported(NamedTuple):
    """The file that has the rows, and the column by which they are found there. ``stays``: why an
    import leaves them out; empty: it takes them."""

    file: str
    column: str
    stays: str = ""


_OF_PEOPLE: Final = "people are invited again"
_SECRET: Final = "a secret, of which a new one is made"
_THERE: Final = "tells what happened on the other instance"
TABLES: Final = {
    "Account": Exported("account.json", "id"),
    "AccountUsage": Exported("account.json", "account_id"),
    "Asset": Exported("assets.geojson", "id"),
    "AuditCheckpoint": Exported("audit-log.ndjson", "hash", _THERE),
    "AuditEntry": Exported("audit-log.ndjson", "id", _THERE),
    "BillingCustomer": Exported("billing.json", "customer_id", "of the other instance's provider"),
    "BillingEvent": Exported("billing.json", "id", "of the other instance's provider"),
    "BoundaryEntry": Exported("boundary-history.ndjson", "id"),
    "CredentialRequest": Exported("usage.json", "credential_id", _THERE),
    "DeliveryLog": Exported("webhook-attempts.ndjson", "id", _THERE),
    "Event": Exported("events.ndjson", "id", _THERE),
    "Import": Exported("imports.json", "id", _THERE),
    "ImportFeature": Exported("import-features.ndjson", "import_id", _THERE),
    "Membership": Exported("members.json", "user_id", _OF_PEOPLE),
    "OAuthApplication": Exported("applications.json", "id", _SECRET),
    "OAuthConsent": Exported("application-access.json", "application_id", _OF_PEOPLE),
    "Project": Exported("projects.geojson", "id"),
    "Replay": Exported("webhooks.json", "id", _THERE),
    "RequestCount": Exported("usage.json", "day", _THERE),
    "Webhook": Exported("webhooks.json", "id", _SECRET),
}
# The columns of imported rows that differ.
NEW_COLUMNS: Final = {
    "Asset": {"row", "id", "account_id", "project_id"},
    "BoundaryEntry": {"id", "account_id", "project_id", "created_by", "created_by_email"},
    "Project": {"row", "id", "account_id"},
}
# Of credentials, none is imported.
CREDENTIALS: Final = {"api_key": "api-keys.json", "service_token": "service-tokens.json"}
_OF_A_PERSON: Final = "of a person, who may belong to other accounts too"
_OF_NOBODY: Final = "of somebody who is not signed in"
# Why the rows of others are in no file, and in no import.
REASONS: Final = {
    "AttemptCount": "the sums of webhook-attempts.ndjson, for charts",
    "Authenticator": _OF_A_PERSON,
    "BillingSubscription": "which of the events in billing.json was applied last",
    "BoundaryShape": "simplified copies of boundaries, for maps",
    "Delivery": "the queue of webhook-attempts.ndjson",
    "IdempotentResponse": "copies of responses, for a day",
    "ImportedRecord": "which projects and assets an import made or changed, by its id",
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


def rows(client: Client, name: str) -> list[Any]:
    """The account's rows of a table."""
    model: Any = getattr(models, name)
    column = model.id if name == "Account" else model.account_id
    with client.app.app_context():
        own = select(model).where(column == client.account_id).options(undefer("*"))
        return list(db.session.scalars(own))
