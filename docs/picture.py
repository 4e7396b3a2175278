"""Draws the picture on the page for strangers: the demo's districts, their hectares, and a fault.

``.venv/bin/python -m docs.picture`` writes ``app/site/static/images/picture.svg``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final

from app.geometry import GeometryInvalid, read_boundary
from config import ROOT

SOURCE: Final = ROOT / "app/demo/districts.geojson"
TARGET: Final = ROOT / "app/site/static/images/picture.svg"
_WIDTH, _HEIGHT, _MARGIN = 560, 520, 20  # of the map, in pixels
_LABELED: Final = 5  # districts, the largest ones
_BOW_TIE: Final = {
    "type": "Polygon",
    "coordinates": [
        [
            [-122.05, 44.05], [-122.03, 44.065], [-122.03, 44.05], [-122.05, 44.065],
            [-122.05, 44.05],
        ]
    ],
}  # fmt: skip
_STYLE: Final = """
  .ground { fill: #f7f6f0 } .card { fill: #ffffff; stroke: #dcded2 }
  .forest { fill: #bcd8b0; stroke: #1f6b45; stroke-width: 0.8; stroke-linejoin: round }
  text { fill: #1d2a22; font: 14px system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif }
  .title { font-size: 17px; font-weight: 600 } .small { font-size: 12.5px; fill: #55645a }
  .label { font-size: 12px; font-weight: 600 }
  .label { paint-order: stroke; stroke: #f7f6f0; stroke-width: 3px }
  .wrong { fill: #f3d9da; stroke: #a3293d; stroke-width: 1.5 } .fault { fill: #a3293d }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #141a16 } .card { fill: #1b231e; stroke: #334038 }
    .forest { fill: #2f5a41; stroke: #8fd1a5 } text { fill: #e7ece4 } .small { fill: #a5b3a8 }
    .label { stroke: #141a16 } .wrong { fill: #43242a; stroke: #f09aa8 } .fault { fill: #f09aa8 }
  }
"""


def draw() -> str:
    """The picture, as SVG."""
    features = json.loads(SOURCE.read_text())["features"]
    boundaries = [read_boundary(feature["geometry"]) for feature in features]
    names = [feature["properties"]["district"] for feature in features]
    west, east = min(b.bounds.west for b in boundaries), max(b.bounds.east for b in boundaries)
    south, north = min(b.bounds.south for b in boundaries), max(b.bounds.north for b in boundaries)
    narrow = math.cos(math.radians((south + north) / 2))
    scale = min(
        (_WIDTH - 2 * _MARGIN) / ((east - west) * narrow), (_HEIGHT - 2 * _MARGIN) / (north - south)
    )

    def place(longitude: float, latitude: float) -> tuple[float, float]:
        x = _MARGIN + (longitude - west) * narrow * scale
        return round(x, 1), round(_MARGIN + (north - latitude) * scale, 1)

    shapes = [
        f'<path class="forest" d="{_outline(feature["geometry"], place)}"/>' for feature in features
    ]
    largest = sorted(zip(boundaries, names, strict=True), key=lambda pair: -pair[0].area_m2)
    labels = list(_labels(largest[:_LABELED], place))
    total = sum(boundary.area_m2 for boundary in boundaries) / 10_000
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 520" role="img"'
        f' aria-label="{len(features)} forest districts with their areas, and a boundary that'
        ' crosses itself, with the place of the fault">',
        f"<style>{_STYLE}</style>",
        '<rect class="ground" width="960" height="520" rx="10"/>',
        *shapes,
        *labels,
        '<rect class="card" x="590" y="40" width="340" height="120" rx="10"/>',
        '<text class="title" x="612" y="74">Measured on the ellipsoid</text>',
        f'<text x="612" y="103">{len(features)} projects, {total:,.0f} ha</text>',
        '<text class="small" x="612" y="131">From the demo: ranger districts of the</text>',
        '<text class="small" x="612" y="147">US Forest Service.</text>',
        *_fault_card(),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _outline(geometry: Any, place: Any) -> str:
    """The rings of a boundary as the path of an SVG, to a tenth of a pixel."""
    parts = geometry["coordinates"]
    rings = [
        ring for part in ([parts] if geometry["type"] == "Polygon" else parts) for ring in part
    ]
    drawn = []
    for ring in rings:
        points = [place(*position[:2]) for position in ring]
        kept = [
            point
            for number, point in enumerate(points)
            if not number or point != points[number - 1]
        ]
        if len(kept) > 3:
            drawn.append("M" + "L".join(f"{x},{y}" for x, y in kept) + "Z")
    return "".join(drawn)


def _labels(largest: list[Any], place: Any) -> Iterator[str]:
    for (
        boundary,
        name,
    ) in largest:
        x, y = place(
            (boundary.bounds.west + boundary.bounds.east) / 2,
            (boundary.bounds.south + boundary.bounds.north) / 2,
        )
        anchor = "end" if x > _WIDTH - 90 else "middle"
        short = name.replace(" Ranger District", "").replace(" National Recreation Area", "")
        short = short.replace(" National Volcanic Monument", "").replace("Mount ", "Mt. ")
        yield f'<text class="label" text-anchor="{anchor}" x="{x}" y="{y}">{short}</text>'
        area = f"{boundary.area_m2 / 10_000:,.0f} ha"
        yield f'<text class="label" text-anchor="{anchor}" x="{x}" y="{y + 14}">{area}</text>'


def _fault_card() -> Iterator[str]:
    """A boundary that crosses itself, with what the service says of it."""
    try:
        read_boundary(_BOW_TIE)
    except GeometryInvalid as error:
        problem = error.problems[0]
    ring = _BOW_TIE["coordinates"][0]

    def place(longitude: float, latitude: float) -> tuple[float, float]:
        return round(660 + (longitude + 122.05) * 10_000, 1), round(
            364 - (latitude - 44.05) * 9_000, 1
        )

    points = " ".join("{},{}".format(*place(*position)) for position in ring)
    assert problem.coordinates is not None
    x, y = place(*problem.coordinates)
    yield '<rect class="card" x="590" y="180" width="340" height="280" rx="10"/>'
    yield '<text class="title" x="612" y="214">Checked before it is stored</text>'
    yield f'<polygon class="wrong" points="{points}"/>'
    yield f'<circle class="fault" cx="{x}" cy="{y}" r="6"/>'
    longitude, latitude = problem.coordinates
    yield '<text x="612" y="404">The boundary crosses itself</text>'
    yield f'<text class="small" x="612" y="428">at {latitude:g}° N, {-longitude:g}° W</text>'


if __name__ == "__main__":
    TARGET.write_text(draw())
