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

# Processor time for comparing a large boundary with the countries, once for its country and once
# for warnings. It stops once the request has used COUNTRIES_LATEST, so that it never refuses a
# boundary. Of 252 ranger districts none takes more than 0.04 s.
COUNTRIES_SECONDS: Final = 0.3
COUNTRIES_LATEST: Final = 1.2

# Processor time for comparing two boundaries; the second while other changes wait.
OVERLAY_SECONDS: Final = 0.1
OVERLAY_LOCKED_SECONDS: Final = 0.01

# A boundary is compared with the projects whose boxes overlap its box, those with the largest
# possible overlap first: at most OVERLAP_CANDIDATES, until the request has used OVERLAPS_SECONDS
# of processor time.
OVERLAP_CANDIDATES: Final = 10_000
OVERLAPS_SECONDS: Final = 1.0
OVERLAPS_SHOWN: Final = 100
OVERLAP_M2: Final = 1.0  # at least
OVERLAP_METERS: Final = 0.1  # wide on the average, at least

# Maps: a job simplifies boundaries for the zooms of MAP_LEVELS at which they have MAP_LEAST_PIXELS;
# for the first level only those of more than MAP_SHORT_BYTES. A response simplifies at most
# MAP_WAITING_BYTES of the others. Where the box has more than MAP_NEAR projects, the largest are
# searched among the MAP_SEARCHED largest of the account.
MAP_ZOOM: Final = 22
MAP_LEVELS: Final = (14, 11, 8, 5)
MAP_LEAST_PIXELS: Final = 2
MAP_SHORT_BYTES: Final = 32 * 1024
MAP_FEATURES: Final = 4_000
MAP_BYTES: Final = 8 * 1024 * 1024
MAP_WAITING_BYTES: Final = 2 * 1024 * 1024
MAP_NEAR: Final = 10_000
MAP_SEARCHED: Final = 1_000_000

# Colors of a map by values: the most frequent COLOR_VALUES have their own, numbers are divided into
# COLOR_CLASSES. The legend counts the COLOR_PROJECTS oldest projects, and offers COLOR_KEYS keys.
COLOR_VALUES: Final = 11
COLOR_CLASSES: Final = 5
COLOR_PROJECTS: Final = 20_000
COLOR_KEYS: Final = 50

# Maps of assets: where the box has more than ASSETS_MAP_NEAR assets, they are searched in the order
# of the list.
ASSETS_MAP_FEATURES: Final = 4_000
ASSETS_MAP_NEAR: Final = 10_000

# Bodies: two boundaries of GEOMETRY_POSITIONS positions with heights have this many numbers.
BODY_VALUES: Final = 700_000
BODY_CONTAINERS: Final = 300_000
BODY_STRINGS: Final = 20_000
BODY_ESCAPES: Final = 1_000_000

# The processor time of a request until its first byte, and between two pieces of a stream. It is
# checked between steps of up to 0.3 s, so that it is 2 s at most. An export, which has a slot, may
# use it for each batch of records, as some formats read all of them before their first byte.
REQUEST_SECONDS: Final = 1.7

# Expensive are requests with a body of more than EXPENSIVE_BODY_BYTES, those with a boundary that
# can take long to validate or to compare with the countries, pages with more than
# EXPENSIVE_PAGE_BYTES of boundaries, and all others once they have used EXPENSIVE_AFTER_SECONDS of
# processor time. A process works on one of them at a time, by turns of accounts. EXPENSIVE_WAITING
# others wait, fewer while exports hold threads, each for EXPENSIVE_WAIT_SECONDS at most; clients
# are asked to repeat the rest.
EXPENSIVE_AFTER_SECONDS: Final = 0.2
EXPENSIVE_BODY_BYTES: Final = 128 * 1024
EXPENSIVE_PAGE_BYTES: Final = 4 * 1024 * 1024
EXPENSIVE_WAITING: Final = 2
EXPENSIVE_WAIT_SECONDS: Final = 5.0
EXPENSIVE_RETRY_SECONDS: Final = 1

METADATA_BYTES: Final = 16 * 1024
METADATA_KEYS: Final = 50
METADATA_FILTERS: Final = 10  # keys of the metadata that filter one list
METADATA_LEVELS: Final = 200  # nested; the JSON library writes 254, with the record around them

PER_PAGE_DEFAULT: Final = 20
PER_PAGE_MAX: Final = 100
PAGE_MAX: Final = 1_000_000

PROJECT_STATUSES: Final = ("active", "archived", "draft")
BOUNDARY_SOURCES: Final = ("api", "import", "dashboard", "cli", "database", "ogc")
PROJECT_SORTS: Final = ("name", "created_at", "updated_at", "area_hectares")
ASSET_SORTS: Final = ("created_at", "updated_at")
LIST_IDS: Final = 100  # named in one request for a list
SELECTED_IDS: Final = 10_000  # ticked on a page, which keeps them for SELECTION_SECONDS
SELECTION_SECONDS: Final = 3600
LIST_BYTES: Final = 64 * 1024 * 1024  # one page

# The cache of maps and pages of features in each web process: all of it, and one response.
RESPONSE_CACHE_BYTES: Final = 16 * 1024 * 1024
CACHED_RESPONSE_BYTES: Final = 8 * 1024 * 1024

ACCOUNT_TYPES: Final = ("individual", "organization")

# Open vocabularies of assets: any word in lower case (``word_problem``). The listed ones are
# documented.
VOCABULARY_LENGTH: Final = 50
ASSET_TYPES: Final = ("equipment", "monitoring_station", "point_of_interest")
ASSET_STATUSES: Final = ("active", "inactive", "maintenance", "retired")
ASSET_WORDS: Final = 50  # other words of the account's assets that pages offer

# Names of pages of the web application, which no slug may have.
RESERVED_SLUGS: Final = frozenset({
    "admin", "api", "app", "auth", "billing", "dashboard", "docs", "help", "login", "logout", "new",
    "oauth", "register", "settings", "static", "support", "system", "v1", "webhooks", "www",
})  # fmt: skip

IDEMPOTENCY_KEY_LENGTH: Final = 255
IDEMPOTENCY_HOURS: Final = 24
# Responses of more than IDEMPOTENCY_LARGE_BYTES are stored up to IDEMPOTENCY_BYTES per account, in
# windows of IDEMPOTENCY_HOURS.
IDEMPOTENCY_LARGE_BYTES: Final = 8 * 1024
IDEMPOTENCY_BYTES: Final = 128 * 1024 * 1024
EVENT_DAYS: Final = 30
# The size of a row of an account's history without its body, with its entries in indexes.
HISTORY_ROW_BYTES: Final = 500
REQUEST_DAYS: Final = 90  # for counts by credential; the account's counts are kept
REQUEST_DAYS_READ: Final = 366  # in one response
REQUEST_DAYS_DEFAULT: Final = 30

# The least time between two writes of a credential's last use.
LAST_USED_SECONDS: Final = 60
ALLOWLIST_ENTRIES: Final = 100

# Invitations of an account in 24 hours: as many as its plan has seats, within this range.
INVITATIONS_A_DAY: Final = (20, 1_000)

# Valid API keys of an account, or service tokens, up to which its pages create more.
PAGE_KEYS: Final = 50
ENDED_KEYS_SHOWN: Final = 50  # on the pages of an account
# Keys, tokens and applications that have ended whose requests are listed separately: those with
# most. The others' are in the sums.
ENDED_CALLERS: Final = 200
PROJECTS_OF_CREDENTIAL: Final = 100  # to which one credential can be limited
KEY_DAYS: Final = 365  # the default life of an API key
EXPIRY_MAILED_DAYS: Final = 7  # days before a key expires when its creator gets an email
