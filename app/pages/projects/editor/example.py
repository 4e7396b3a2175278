"""The project that a newcomer can begin with."""

from __future__ import annotations

from typing import Final

from app.pages.metadata import Row
from app.pages.projects.editor.draft import Draft

# A made-up shape beside the Brice Creek Trail in the Umpqua National Forest, Oregon.
EXAMPLE: Final = Draft(
    name="Brice Creek example",
    texts={
        "description": "An example to try things with. Change it, or delete it when you are done."
    },
    geometry=(
        '{"type":"Polygon","coordinates":[[[-122.66,43.64],[-122.632,43.638],[-122.624,43.652],'
        "[-122.637,43.664],[-122.655,43.661],[-122.66,43.64]]]}"
    ),
    metadata=[Row("species", "Douglas fir"), Row("planted", "1998")],
)
