"""The archive of an account: its files with their descriptions."""

from __future__ import annotations

from typing import Final

from app.policy.deliveries import LOG_DAYS
from app.policy.imports import IMPORT_DAYS
from app.policy.request_limits import EVENT_DAYS, REQUEST_DAYS

FORMAT: Final = "canopy-account"
FORMAT_VERSION: Final = 2  # 1 was a single JSON document; a higher one is incompatible

README: Final = "README.txt"
MANIFEST: Final = "manifest.json"

# In the order in which they are in the archive. A file of NDJSON has a JSON object on each line.
FILES: Final[dict[str, str]] = {
    README: "what the files are, and how to use them elsewhere",
    "account.json": "the account, the limits of its plan, its usage this month, and whether it "
    "requires a second factor",
    "members.json": "the members with their roles, invited people among them",
    "projects.geojson": "the projects with their boundaries and metadata, as one layer",
    "assets.geojson": "the assets with their locations and metadata, as one layer",
    "boundary-history.ndjson": "each boundary that a project has had: since when, by whom, how it "
    "differs from the one before. The current one has its geometry in projects.geojson",
    "imports.json": f"the imports of the last {IMPORT_DAYS} days, without the uploaded files",
    "import-features.ndjson": "the features of these imports, and what became of each",
    "api-keys.json": "the API keys: permissions, projects, dates and last four characters, never "
    "the key",
    "service-tokens.json": "the service tokens, with the same fields",
    "applications.json": "the OAuth applications that the account has registered, without secrets",
    "application-access.json": "which applications members have allowed to act for them in the "
    "account",
    "webhooks.json": "the webhooks without their secrets, each with its last replay",
    "webhook-attempts.ndjson": "the attempts to deliver events to webhooks in the last "
    f"{LOG_DAYS} days",
    "events.ndjson": f"the events of the last {EVENT_DAYS} days, as webhooks receive them",
    "usage.json": f"the requests of each day and, for {REQUEST_DAYS} days, of each credential",
    "billing.json": "the account's ids at the payment provider, and which billing events arrived",
    "audit-log.ndjson": "the audit log with its checkpoints and public keys, which can be verified",
    MANIFEST: "where and when the archive was made and, of each other file, the number of records "
    "and bytes and the SHA-256",
}

COMPRESSION_LEVEL: Final = 3  # higher ones are slower, and hardly make it smaller
