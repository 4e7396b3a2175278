"""OGC API Features: the size of pages, the complexity of filters, and the number of requests."""

from __future__ import annotations

from typing import Final

LIMIT_DEFAULT: Final = 1_000  # features of a page
LIMIT_MAX: Final = 10_000  # a larger `limit` means this
HTML_LIMIT: Final = 100  # features of a page for people, whose map is drawn by the server
HTML_BYTES: Final = 1024 * 1024  # boundaries and texts of a page for people
TRANSFORMED_BYTES: Final = 16 * 1024 * 1024  # a page in another coordinate system

# Requests a minute, as a multiple of what the plan allows to /v1: clients read layers by pages,
# and older ones ask for ten features at a time.
REQUESTS_FACTOR: Final = 10

FILTER_LENGTH: Final = 8_000  # characters; an address has no more
FILTER_DEPTH: Final = 20  # nested parentheses and NOT
FILTER_PARTS: Final = 200  # comparisons, and values of IN
FILTER_PATTERNS: Final = 10  # for LIKE
PATTERN_LENGTH: Final = 200  # characters of a pattern
FILTER_SHAPES: Final = 5  # geometries

# A boundary whose box is within the box of a query, or apart from it, is not read. The others are
# read and compared: this many bytes, or this many locations, for all geometries of a query
# together.
SHAPE_BYTES: Final = 16 * 1024 * 1024
SHAPE_ROWS: Final = 20_000
SHAPE_SECONDS: Final = 0.3  # of processor time, for comparing a geometry with a batch of them

# The newest records, whose metadata gives the columns of a collection.
SCHEMA_RECORDS: Final = 20_000
SCHEMA_BYTES: Final = 16 * 1024 * 1024
SCHEMA_KEYS: Final = 200
