"""Limits of a request: its values, its work and its response; and the words that fields accept."""

from __future__ import annotations

from typing import Final

ID_LENGTH: Final = 40
NAME_LENGTH: Final = 200
SLUG_LENGTH: Final = 63
DESCRIPTION_LENGTH: Final = 10_000
EXTERNAL_ID_LENGTH: Final = 200
SEARCH_LENGTH: Final = 200
GEOMETRY_POSITIONS: Final = 100_000

# Processor time that validating a boundary may take. Of 252 ranger districts none takes more than
# 0.05 s; one that was made to be expensive would take minutes.
VALIDATION_SECONDS: Final = 0.8

# Processor time that comparing a large boundary with the countries may take, once for the one that
# it lies in and once for warnings. It ends anyway once the request has used COUNTRIES_LATEST, so
# that it never refuses a boundary. Of 252 ranger districts none takes more than 0.04 s.
COUNTRIES_SECONDS: Final = 0.3
COUNTRIES_LATEST: Final = 1.2

# Processor time that comparing two boundaries may take. While other changes wait, only what takes
# less is compared.
OVERLAY_SECONDS: Final = 0.1
OVERLAY_LOCKED_SECONDS: Final = 0.01

# Of the projects whose boxes overlap that of a boundary, at most this many are looked at, those
# first with which it can have most in common, and compared until the request has used this many
# seconds of processor time.
OVERLAP_CANDIDATES: Final = 10_000
OVERLAPS_SECONDS: Final = 1.0
OVERLAPS_SHOWN: Final = 100
OVERLAP_M2: Final = 1.0  # at least
OVERLAP_METERS: Final = 0.1  # wide on the average, at least

# Maps: a job simplifies boundaries for the zooms of MAP_LEVELS at which they have MAP_LEAST_PIXELS;
# for the first of them only those of more than MAP_SHORT_BYTES. Of those that are not simplified
# yet, MAP_WAITING_BYTES are simplified for a response. Where the box has more than
# MAP_NEAR projects, the largest ones are looked for among the MAP_SEARCHED largest of the account.
MAP_ZOOM: Final = 22
MAP_LEVELS: Final = (14, 11, 8, 5)
MAP_LEAST_PIXELS: Final = 2
MAP_SHORT_BYTES: Final = 32 * 1024
MAP_FEATURES: Final = 4_000
MAP_BYTES: Final = 8 * 1024 * 1024
MAP_WAITING_BYTES: Final = 2 * 1024 * 1024
MAP_NEAR: Final = 10_000
MAP_SEARCHED: Final = 1_000_000

# Maps of assets, which are points: where the box has more than ASSETS_MAP_NEAR assets, they are
# looked for in the order of the list.
ASSETS_MAP_FEATURES: Final = 4_000
ASSETS_MAP_NEAR: Final = 10_000

# Bodies of requests: two boundaries of GEOMETRY_POSITIONS positions with heights have this many
# numbers.
BODY_VALUES: Final = 700_000
BODY_CONTAINERS: Final = 300_000
BODY_STRINGS: Final = 20_000
BODY_ESCAPES: Final = 1_000_000

# The processor time of a request until its first byte, and between two pieces of a stream. It is
# looked at between steps of up to 0.3 s, and is 2 s at most with the last of them. An export, which
# has a slot, may take so long for each batch of records, as some formats read all of them before
# their first byte.
REQUEST_SECONDS: Final = 1.7

# Requests with a larger body, those with a boundary that can take long to validate or to compare
# with the countries, pages with more bytes of boundaries, and all others once they have used
# EXPENSIVE_AFTER_SECONDS of processor time are expensive. A process works on one of them at a time,
# by turns of accounts. EXPENSIVE_WAITING others wait, each for EXPENSIVE_WAIT_SECONDS at most;
# clients are asked to repeat all others. The web server rejects those with a larger body.
EXPENSIVE_AFTER_SECONDS: Final = 0.2
EXPENSIVE_BODY_BYTES: Final = 128 * 1024
EXPENSIVE_PAGE_BYTES: Final = 4 * 1024 * 1024
EXPENSIVE_WAITING: Final = 2
EXPENSIVE_WAIT_SECONDS: Final = 5.0
EXPENSIVE_RETRY_SECONDS: Final = 1

METADATA_BYTES: Final = 16 * 1024
METADATA_KEYS: Final = 50
METADATA_FILTERS: Final = 10  # keys of the metadata that one list is filtered by
METADATA_LEVELS: Final = 200  # the JSON library writes 254, and other records contain these

PER_PAGE_DEFAULT: Final = 20
PER_PAGE_MAX: Final = 100
PAGE_MAX: Final = 1_000_000

PROJECT_STATUSES: Final = ("active", "archived", "draft")
BOUNDARY_SOURCES: Final = ("api", "import", "dashboard", "cli", "database", "ogc")
PROJECT_SORTS: Final = ("name", "created_at", "updated_at", "area_hectares")
ASSET_SORTS: Final = ("created_at", "updated_at")
LIST_IDS: Final = 100  # that one request for a list may name
LIST_BYTES: Final = 64 * 1024 * 1024  # of one page

# Maps and pages of features that each web process keeps to send again: of all, and of one.
KEPT_BYTES: Final = 16 * 1024 * 1024
KEPT_RESPONSE_BYTES: Final = 8 * 1024 * 1024

ACCOUNT_TYPES: Final = ("individual", "organization")

# Open vocabularies of assets: any word of this form; these are the documented ones.
VOCABULARY_LENGTH: Final = 50
VOCABULARY_PATTERN: Final = f"[a-z][a-z0-9_-]{{0,{VOCABULARY_LENGTH - 1}}}"
ASSET_TYPES: Final = ("equipment", "monitoring_station", "point_of_interest")
ASSET_STATUSES: Final = ("active", "inactive", "maintenance", "retired")
ASSET_WORDS: Final = 50  # others that the pages offer, of those that the account's assets have

# Slugs that nothing gets, as the web application has pages of these names.
RESERVED_SLUGS: Final = frozenset({
    "admin", "api", "app", "auth", "billing", "dashboard", "docs", "help", "login", "logout", "new",
    "oauth", "register", "settings", "static", "support", "system", "v1", "webhooks", "www",
})  # fmt: skip

IDEMPOTENCY_KEY_LENGTH: Final = 255
IDEMPOTENCY_HOURS: Final = 24
# Responses with more bytes than the first are stored while those of an account have no more than
# the second, in windows of IDEMPOTENCY_HOURS.
IDEMPOTENCY_LARGE_BYTES: Final = 8 * 1024
IDEMPOTENCY_BYTES: Final = 128 * 1024 * 1024
EVENT_DAYS: Final = 30
# What a row of an account's history takes besides its body, with its entries in indexes.
HISTORY_ROW_BYTES: Final = 500
REQUEST_DAYS: Final = 90  # of each credential; the account's are kept
REQUEST_DAYS_READ: Final = 366  # in one response
REQUEST_DAYS_DEFAULT: Final = 30

# A credential's last use is written at most once in this time.
LAST_USED_SECONDS: Final = 60
ALLOWLIST_ENTRIES: Final = 100

# Invitations that an account can send in 24 hours: as many as its plan has seats, within these.
INVITATIONS_A_DAY: Final = (20, 1_000)

# API keys of an account, or service tokens, that are not over; its pages make no more than these.
PAGE_KEYS: Final = 50
ENDED_KEYS_SHOWN: Final = 50  # on its pages, of those that are over
# Keys, tokens and applications without access any more whose requests of a period are told apart:
# those with most. The others' are in the sums.
ENDED_CALLERS: Final = 200
PROJECTS_OF_CREDENTIAL: Final = 100  # that one credential may be limited to
KEY_DAYS: Final = 365  # after which an API key ends, unless another end is chosen
# Whoever made a key gets an email this many days before it expires.
EXPIRY_MAILED_DAYS: Final = 7
