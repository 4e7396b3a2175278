"""Areas of real districts against the official ones: ``python -m bench.areas FILE``.

FILE holds the ranger districts of the US Forest Service as GeoJSON, with the properties
``district`` and ``gis_acres``. Writes docs/measured/areas.md, or what ``--into`` names.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from app.formats.readers.opening import open_file
from app.imports.features.candidates import Candidate, Choices, Rejected, prepare
from app.imports.features.mapping import ColumnMapping
from bench import report

HECTARES_PER_ACRE = 0.40468564224  # the international acre
BY_DISTRICT = Choices("projects", ColumnMapping({"name": "district"}))
PAGE = report.FOLDER / "areas.md"

_HEAD = """\
# Areas of real districts

How far `area_hectares` of {accepted} ranger districts is from the official areas in the same data
set. `python -m bench.areas FILE` writes this page. Data: US Forest Service, ranger district
boundaries, public domain.

Canopy measures the boundary as it is in the file: the geodesic area on the WGS84 ellipsoid,
exterior rings minus holes. The official area is the property `gis_acres` of the same data set.
The data set does not say which boundaries and which projection it was measured from.

**Deviation from the official area: median {median:.2f} %, 95th percentile {p95:.2f} %, \
largest {largest:.2f} %** (absolute values; {accepted} of {all} districts).
"""


class Row(NamedTuple):
    """One district whose boundary is valid; areas in hectares."""

    name: str
    computed: float
    official: float

    @property
    def deviation(self) -> float:
        """In per cent of the official area."""
        return 100 * (self.computed / self.official - 1)


def measure(path: Path) -> tuple[list[Row], list[Rejected]]:
    """The areas of the valid districts of a file, and the refusals of the others."""
    accepted, rejected = [], []
    for item, properties in _prepared(path):
        if isinstance(item, Rejected):
            rejected.append(item)
        elif item.boundary is not None:
            official = properties["gis_acres"] * HECTARES_PER_ACRE
            accepted.append(Row(item.name, item.boundary.area_m2 / 10_000, official))
    return accepted, rejected


def page(accepted: list[Row], rejected: list[Rejected]) -> str:
    """Return the whole page of areas, in Markdown."""
    deviations = [abs(row.deviation) for row in accepted]
    head = _HEAD.format(
        accepted=len(accepted),
        all=len(accepted) + len(rejected),
        median=median(deviations),
        p95=quantiles(deviations, n=20, method="inclusive")[-1],
        largest=max(deviations),
    )
    rows = "\n".join(
        f"| {row.name} | {row.computed:,.4f} | {row.official:,.1f} | {row.deviation:+.3f} |"
        for row in accepted
    )
    reasons = "\n".join(
        f"| {one.name} | {' '.join(problem.message for problem in one.problems)} |"
        for one in rejected
    )
    return (
        f"{head}\n## Rejected\n\nNothing is repaired silently. Parts, rings and positions count "
        f"from 0.\n\n| District | Why |\n|---|---|\n{reasons}\n\n## Areas\n\n"
        f"| District | Canopy, ha | Official, ha | Deviation, % |\n|---|---:|---:|---:|\n{rows}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--into", type=Path, default=PAGE, metavar="PAGE", help="what to write")
    chosen = parser.parse_args()
    text = page(*measure(chosen.file))
    chosen.into.write_text(text)
    print(next(line for line in text.splitlines() if line.startswith("**")))


def _prepared(path: Path) -> Iterator[tuple[Candidate | Rejected, Any]]:
    reader = open_file(path)
    for feature in reader.read(reader.layers[0]):
        yield prepare(feature, BY_DISTRICT), feature.properties


if __name__ == "__main__":
    main()
