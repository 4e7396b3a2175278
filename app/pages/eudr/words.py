"""The texts of the page for each code, in plain words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from app.eudr.report import Report
from app.geometry.countries import country_name, country_phrase
from app.policy.countries import COUNTRY_CODES
from app.policy.eudr import (
    ADDRESS,
    AREA,
    CADASTRAL,
    COUNTRY,
    FILE_BYTES,
    FILE_PRODUCERS,
    NAME,
    PLACE,
    PLACES,
    POINT_HECTARES,
    REFERENCE,
)
from app.site.formats import number, pluralize


class Words(NamedTuple):
    """The title of a group, and what to do."""

    title: str
    to_do: str


ALL_PLOTS: Final = "plots"  # the group of all plots
_CORRECT_AREA: Final = "Measure it, or type the hectares."
_CHOOSE_COUNTRY: Final = "Choose the country that the plots lie in."
WORDS: Final[dict[str, Words]] = {
    "producer_missing": Words(
        "The producer is missing",
        "Type the name of who grew what is sold: a farmer, a company or a cooperative. The "
        "Information System also takes plots without it.",
    ),
    "country_missing": Words("The country of production is missing", _CHOOSE_COUNTRY),
    "country_invalid": Words("The country of production is not a country code", _CHOOSE_COUNTRY),
    "country_differs": Words(
        "The plot does not lie in the country of production",
        f"{_CHOOSE_COUNTRY} The borders here may be off by some kilometers.",
    ),
    "no_place": Words(
        "There is no boundary or location",
        "Draw it. If this is no plot, archive the project, and it is left out.",
    ),
    "area_invalid": Words("The area is too small", _CORRECT_AREA),
    "point_over_4_ha": Words(
        f"Points of more than {POINT_HECTARES:g} hectares",
        "Draw the boundary as a project and delete the point, or correct the area.",
    ),
    "hole": Words(
        "Boundaries with holes",
        "The Information System counts holes as part of the plot. Split the plots around them, "
        "fill them, or change the boundary. Plots with thousands of holes cannot be split.",
    ),
    "breaks_at_six_decimals": Words(
        "Boundaries that break at six decimals",
        "The Information System keeps six decimals. There, these cross or touch themselves. Remove"
        " corners that are very close to each other or to a hole, or move them apart.",
    ),
    "too_complex": Words(
        "Boundaries that take too long to check",
        "Simplify them, or draw each as several plots. Fill the holes of those that have many.",
    ),
    "too_long": Words("A text is too long", "Shorten it in the metadata."),
    "address_incomplete": Words(
        "The place is missing",
        "A simplified declaration names each place by its number in the land register, or by street"
        " and number, postal code and town.",
    ),
    "too_many_places": Words(
        "A producer has too many plots",
        f"A simplified declaration takes {PLACES} of each.",
    ),
    "too_many_producers": Words(
        "There are too many producers for one file",
        f"The Information System takes {FILE_PRODUCERS:,} producers in a file.",
    ),
    "too_large": Words(
        "The file is too large",
        f"The Information System takes {FILE_BYTES // 10**6} MB in a file.",
    ),
    "area_differs": Words(
        "The area differs from the boundary",
        "The file has the area as you wrote it. Measure it, or leave it.",
    ),
    "area_text": Words("The area is not a number", _CORRECT_AREA),
    "overlap": Words(
        "Plots that overlap",
        "Check both boundaries. The Information System takes them as they are.",
    ),
    "place_missing": Words(
        "The names of the plots stand for the places of production",
        "The file has the name of each plot as ProductionPlace. If that is the name of a person, "
        "set the village or district.",
    ),
    ALL_PLOTS: Words("All plots", "Each with its producer, country and place of production."),
}
# Codes whose title says everything about each plot.
SELF_EXPLANATORY: Final = frozenset({
    "producer_missing", "country_missing", "place_missing", "no_place", "hole",
    "breaks_at_six_decimals", "too_complex",
})  # fmt: skip
# The field that is filled in for each code. For ALL_PLOTS, the form says which.
FIELD_OF: Final[dict[str, str]] = {
    "producer_missing": NAME,
    "country_missing": COUNTRY,
    "country_invalid": COUNTRY,
    "country_differs": COUNTRY,
    "place_missing": PLACE,
    "area_invalid": AREA,
    "area_text": AREA,
    "area_differs": AREA,
    "point_over_4_ha": AREA,
    "address_incomplete": CADASTRAL,
}
LABELS: Final[dict[str, str]] = {
    NAME: "Name of the producer",
    COUNTRY: "Country of production",
    PLACE: "Place of production",
    AREA: "Hectares",
    REFERENCE: "Reference number of the statement",
    CADASTRAL: "Number in the land register",
    **dict(zip(ADDRESS, ("Street and number", "Postal code", "Town"), strict=True)),
}


def countries(codes: Iterable[str]) -> str:
    """``Ghana and Côte d'Ivoire``: the first five countries, and the number of the rest."""
    names = [country_phrase(code) for code in codes]
    listed, more = names[:5], len(names) - 5
    if more > 0:
        return f"{', '.join(listed)} and {pluralize(more, 'more country', 'more countries')}"
    *first, last = listed
    return f"{', '.join(first)} and {last}" if first else last


def country_names() -> dict[str, str]:
    """The names of all countries by their codes, sorted by name."""
    names = {code: country_name(code) for code in COUNTRY_CODES}
    return dict(sorted(names.items(), key=lambda pair: pair[1]))


def differences(report: Report, *, are_filled: bool) -> str:
    """``2 projects become 3 plots: 1 hole splits …``: what a file has differently; empty: nothing.

    Args:
        are_filled: holes are.
    """
    parts, holes, rounded = report.changes
    how = "are filled" if are_filled else "are left out, and split their plots"
    if holes == 1:
        how = "is filled" if are_filled else "is left out, and splits its plot"
    said = [f"{pluralize(holes, 'hole')} {how}"] if holes else []
    has = "boundary has" if parts == 1 else "boundaries have"
    said += [f"{number(parts)} {has} several parts, each a plot"] if parts else []
    if rounded:
        said.append(
            f"positions of {number(rounded)} are rounded to six decimals, by at most 8 centimeters"
        )
    become = "becomes" if report.records == 1 else "become"
    kind = "project" if not report.points else "project or point"
    kinds = "projects" if not report.points else "projects and points"
    counts = f"{pluralize(report.records, kind, kinds)} {become}"
    counts += f" {pluralize(report.features, 'plot')}"
    return f"{counts}: {'; '.join(said)}." if said else ""
