"""The limits of the Information System of Regulation (EU) 2023/1115 (EUDR).

From the Commission's "EUDR Operator API Reference v1.0": chapter 9, the GeoJSON file description
1.3 of 29 May 2026, and chapter 10, the rules that a statement is checked by; and from the schemas
of the services of this release.
"""

from __future__ import annotations

from typing import Final

RELEASE: Final = "8.2.1"  # of the Information System, August 2026

PLOT_TYPE: Final = "plot"
"""The type of the assets that are plots kept as points."""

NAME, COUNTRY, PLACE, AREA = "ProducerName", "ProducerCountry", "ProductionPlace", "Area"
"""The properties that the system reads. Their case matters there, and all others are ignored."""

CADASTRAL: Final = "CadastralIdentifier"
ADDRESS: Final = ("PostalAddress", "PostalCode", "City")
SIMPLIFIED: Final = (NAME, COUNTRY, CADASTRAL, *ADDRESS, PLACE, AREA, "id")
"""The columns of a table for simplified declarations, whose producers may name the place by a
cadastral identifier or a postal address."""

REFERENCE: Final = "StatementReference"
"""The key of the reference number of a statement that has a plot."""
VERIFICATION: Final = "VerificationNumber"
"""No metadata has this key, in any case: the number opens a statement to whoever reads it."""

FILE_BYTES: Final = 25_000_000  # the geolocation of a statement
FILE_PRODUCERS: Final = 1_000  # for a commodity, by name and country
NAME_LENGTH: Final = 500  # characters of ProducerName and ProductionPlace
CADASTRAL_LENGTH: Final = 80  # characters
PLACES: Final = 100  # identifiers or addresses of a producer
DECIMALS: Final = 6  # in a position; the system cuts off any more

SMALLEST_HECTARES: Final = 0.0001
POINT_HECTARES: Final = 4.0  # at most, of points but for cattle; and of those without Area
AREA_TOLERANCE: Final = 0.05  # by which Area may differ from the measured area

SPLIT_HOLES: Final = 4_000  # in a part, around which it is cut
HOLES: Final = ("split", "ignore", "refuse")
VARIANTS: Final = (1, 2)

# Problems prevent a file, warnings do not.
PROBLEMS: Final = {
    "country_missing": "The plot has no `ProducerCountry`.",
    "country_invalid": "`ProducerCountry` is no code of ISO 3166-1 alpha-2.",
    "no_place": "The project has neither a boundary nor plots, or the plot has no location.",
    "area_invalid": f"`Area` is 0 or less, or that of a point below {SMALLEST_HECTARES:.4f}.",
    "point_over_4_ha": "The plot is a point, and `Area` is more than 4 hectares.",
    "hole": "The boundary has holes (with `holes=refuse`), or holes that it cannot be cut around.",
    "breaks_at_six_decimals": "The plot crosses itself or vanishes at six decimals.",
    "too_complex": "Checking the plot takes too long.",
    "too_long": f"A text has more than {NAME_LENGTH} characters, or `{CADASTRAL}` more than "
    f"{CADASTRAL_LENGTH}.",
    "address_incomplete": f"A simplified declaration needs `{CADASTRAL}`, or all of "
    f"`{'`, `'.join(ADDRESS)}`.",
    "too_many_places": f"A producer has more than {PLACES} plots in a simplified declaration.",
    "too_many_producers": f"The file has more than {FILE_PRODUCERS:,} producers.",
    "too_large": f"The file has more than {FILE_BYTES:,} bytes.",
}
WARNINGS: Final = {
    "producer_missing": "The plot has no `ProducerName`, which may be left out.",
    "area_differs": f"`Area` differs from the measured area by more than {AREA_TOLERANCE:.0%}.",
    "area_text": "`Area` is no number, and the file has one in its place.",
    "country_differs": "The plot lies in another country than `ProducerCountry`.",
    "several_producers": "The file has several producers (with `variant=1`).",
    "overlap": "Two plots have an area in common.",
    "place_missing": "The plot has no `ProductionPlace`, and the file has its name.",
}

LISTED: Final = 5_000  # problems and warnings of each code that a report lists
IN_ERROR: Final = 100  # problems that an error lists
REPORT_PLOTS: Final = 100_000
OVERLAP_POSITIONS: Final = 3_000_000  # in the outlines that are compared
# Processor time for checking plots, most of it in another process. BATCH_SECONDS: of a record, or a
# few small ones. REPORT_SECONDS, FILE_SECONDS: of all, to which PLOT_SECONDS adds for each record
# and each position: plain ones take half of that.
BATCH_SECONDS: Final = 2.0
REPORT_SECONDS: Final = 4.0
FILE_SECONDS: Final = 15.0
PLOT_SECONDS: Final = (300e-6, 3e-6)
COMPARISON_SECONDS: Final = 1.0  # then a report searches no more overlaps
