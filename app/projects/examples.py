"""The examples of projects in the API's description: a real district, as a response shows it."""

from __future__ import annotations

from typing import Any, Final

from app.policy import fields, kinds

# Cottage Grove Ranger District of the Umpqua National Forest, from the Forest Service's map.
BOUNDARY: Final[dict[str, Any]] = {
    "type": "Polygon",
    "coordinates": [
        [
            [-122.67096335999997, 43.79732169],
            [-122.74473307, 43.78474236],
            [-122.75140270000003, 43.558381259999976],
            [-122.78196294999998, 43.53721359999997],
            [-122.76121251, 43.5163356],
            [-122.69157308000001, 43.53322497],
            [-122.65382402, 43.58503022999997],
            [-122.62562014999997, 43.57858187],
            [-122.60564115, 43.597732940000014],
            [-122.56474054, 43.58065224],
            [-122.52893569999998, 43.61659058999999],
            [-122.56524443, 43.63999633999998],
            [-122.56797876000002, 43.70707029],
            [-122.59114753, 43.72028452],
            [-122.59406130000002, 43.74245301000002],
            [-122.67096335999997, 43.79732169],
        ]
    ],
}
PROJECT: Final[dict[str, Any]] = {
    field.name: BOUNDARY if field.kind is kinds.BOUNDARY else field.example
    for field in fields.PROJECT
}
PROJECT_BODY: Final[dict[str, Any]] = {
    field.name: PROJECT[field.name] for field in fields.PROJECT if field.writable == "always"
}
PROJECT_CHANGE: Final[dict[str, Any]] = {"description": "Umpqua National Forest, Oregon"}
