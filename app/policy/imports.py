"""The states of an import, what it says of a feature, and how long it is kept."""

from __future__ import annotations

from typing import Final

KINDS: Final = ("projects", "assets")
POINTS: Final = ("assets",)  # what they become in an import of projects, if not plots

# The statuses in which a worker reads the file, writes its features, or takes them back.
WORKING: Final = ("reading", "applying", "undoing")
POLL_SECONDS: Final = 2  # after which a client may read such an import again
STATUSES: Final = (
    "reading", "ready", "applying", "applied", "undoing", "undone", "failed", "canceled",
)  # fmt: skip

# The outcomes of a feature, as ``counts`` names them.
VERDICTS: Final = ("new", "changed", "same", "rejected")

STATES: Final = ("applied", "undone", "kept")  # of a written feature

MATCHES: Final = ("external_id", "name", "none")

# The other members of a mapping, besides fields: the columns of a CSV file with its geometries.
GEOMETRY_COLUMNS: Final = ("geometry", "latitude", "longitude", "easting", "northing", "zone")

# The questions about a file, the most important first; the first five must be answered.
QUESTIONS: Final = (
    *("crs", "letters", "zone", "geometry", "geometry_type"),
    *("swapped", "open_lines", "encoding", "name"),
)
MUST_BE_ANSWERED: Final = QUESTIONS[:5]
O_MEANS: Final = ("east", "west")
ZONE_LETTERS: Final = ("band", "hemisphere")  # what S behind a UTM zone is
OPTIONS: Final = 5  # for a question, at most
SAMPLES: Final = 3  # values of a column, beside an option
SAMPLE_LENGTH: Final = 40  # characters of each
PLACES: Final = 50  # of a file, at least half a degree apart, that are looked up
SAMPLED_COLUMNS: Final = 20  # for an option that lets the person choose the column
RENAMED: Final = 1_000  # features of an import

UNFINISHED_IMPORTS: Final = 10  # per account: at work, ready, or failed with a file
IMPORT_DAYS: Final = 30
UPLOAD_HOURS: Final = 1  # for which a file without an import is kept
FILENAME_LENGTH: Final = 200

CHUNK_BYTES: Final = 1024 * 1024  # each chunk of a file is a row
BATCH_FEATURES: Final = 50  # in one transaction: other writers wait for it
BATCH_BYTES: Final = 2 * 1024 * 1024  # boundaries in one transaction
BATCH_SECONDS: Final = 1.0  # to decide about features, after which these are written
DECIDE_SECONDS: Final = 60.0  # processor time to decide about all features of a file
UNTRIED_DELIVERIES: Final = 10_000  # per account; beyond these, its imports wait
LEASE_SECONDS: Final = 10  # after which another worker goes on with the import of a dead one
MOST_TRIES: Final = 3  # to do a step whose worker dies
EVERY_SECONDS: Final = 15  # between two searches for imports that nobody works on
RUN_SECONDS: Final = 600.0  # then the next job goes on
TURN_SECONDS: Final = 2.0  # then an import of another account has its turn
# Boundaries that are read for the map on a page of features, and their size when simplified.
FEATURES_MAP_READ_BYTES: Final = 4 * 1024 * 1024
FEATURES_MAP_BYTES: Final = 2 * 1024 * 1024
# The map of all features comes in pieces of at most MAP_ROWS features, drawn for a map of
# MAP_PIXELS around them or, if there are at most MAP_CLOSE_ROWS, MAP_CLOSER times as large. Of
# rejected features, outlines of more than MAP_OUTLINE_BYTES that cannot be simplified are missing.
MAP_ROWS: Final = 4_000
MAP_PIXELS: Final = 600
MAP_CLOSE_ROWS: Final = 5_000
MAP_CLOSER: Final = 8
MAP_OUTLINE_BYTES: Final = 4 * 1024
OUTLINE_POSITIONS: Final = 5_000  # on a map, in the outline of a rejected feature
PROBLEMS: Final = 20  # stored per feature
LATER_PROBLEMS: Final = 2  # per feature after the first SHOWN_FEATURES
SHOWN_FEATURES: Final = 1000
PROBLEM_FIELD_LENGTH: Final = 100  # characters stored; names of columns may be longer
PROBLEM_LENGTH: Final = 500  # characters of the message
FAULTS: Final = 20  # kinds of problems that are summed
OVERLAPS: Final = 5  # stored per feature, the largest
IMPORT_OVERLAPS_SECONDS: Final = 20.0  # processor time to find a file's overlaps
SAME_BOX: Final = 50  # projects with the box of a feature, to which it is compared
