"""OGC API Features: how much a page has, how complex a filter may be, how many requests pass."""

from __future__ import annotations

from typing import Final

LIMIT_DEFAULT: Final = 1_000  # features of a page
LIMIT_MAX: Final = 10_000  # a larger `limit` means this
HTML_LIMIT: Final = 100  # features of a page for people, whose map is drawn by the server
HTML_BYTES: Final = 1024 * 1024  # likewise, of boundaries and texts
TRANSFORMED_BYTES: Final = 16 * 1024 * 1024  # of a page in another coordinate system

# Requests a minute, as a multiple of what the plan allows to /v1: clients read layers by pages,
# and older ones ask for ten features at a time.
REQUESTS_FACTOR: Final = 10

FILTER_LENGTH: Final = 8_000  # characters; an address has no more
FILTER_DEPTH: Final = 20  # of parentheses and NOT in each other
FILTER_PARTS: Final = 200  # comparisons, and values of IN
FILTER_PATTERNS: Final = 10  # of LIKE
PATTERN_LENGTH: Final = 200  # characters of each
FILTER_SHAPES: Final = 5  # geometries

# Whether a boundary intersects a geometry is decided by its box alone where that is within a box of
# a query or apart from it. The others are read: up to this many bytes of them, or this many
# locations, for all geometries of a query together.
SHAPE_BYTES: Final = 16 * 1024 * 1024
SHAPE_ROWS: Final = 20_000

# Of the newest records, whose metadata is looked through for the columns of a collection.
SCHEMA_RECORDS: Final = 20_000
SCHEMA_BYTES: Final = 16 * 1024 * 1024
SCHEMA_KEYS: Final = 200
