"""The form of a project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.pages.editable_fields import PROJECT_FIELDS
from app.pages.metadata import Row
from app.pages.projects.editor.boundary_text import check_boundary
from app.pages.record_draft import RecordDraft
from app.projects.schemas import ProjectCreateSchema, ProjectUpdateSchema
from app.values.strict_json import dumps


class ProjectDraft(RecordDraft):
    """The form of a project. ``problems`` are its boundary's, with their places."""

    fields = PROJECT_FIELDS
    others = ("name", "status", "geometry")
    problems: tuple[dict[str, Any], ...] = ()

    @classmethod
    def other_texts(cls, record: Mapping[str, Any]) -> dict[str, str]:
        geometry = record["geometry"]
        text = "" if geometry is None else dumps(geometry).decode()
        return {"name": record["name"], "status": record["status"], "geometry": text}

    def labelled(self) -> dict[str, str]:  # without the boundary, which the map compares
        return {"Name": self.texts["name"], "Status": self.texts["status"]}

    def read(self, before: Mapping[str, Any] | None = None) -> None:
        """Read the values to create or update a project with.

        Args:
            before: the saved record of the project; None for a new one.
        """
        values = {"name": self.texts["name"], **self.read_fields()}
        if before is None:
            self.load(ProjectCreateSchema(), values)
        else:
            shows_status = before["status"] != "archived"
            status = (shows_status and self.texts["status"]) or before["status"]
            self.texts["status"] = status
            self.load(ProjectUpdateSchema(), values | {"status": status})
        checked = check_boundary(self.texts["geometry"])
        self.loaded["geometry"] = checked.boundary
        self.problems = tuple(checked.problems)
        if checked.problems:
            self.errors["geometry"] = [problem["message"] for problem in checked.problems]


# A made-up shape beside the Brice Creek Trail in the Umpqua National Forest, Oregon.
EXAMPLE: Final = ProjectDraft(
    {
        "name": "Brice Creek example",
        "description": "An example to try things with. Change it, or delete it when you are done.",
        "geometry": (
            '{"type":"Polygon","coordinates":[[[-122.66,43.64],[-122.632,43.638],[-122.624,43.652],'
            "[-122.637,43.664],[-122.655,43.661],[-122.66,43.64]]]}"
        ),
    },
    [Row("species", "Douglas fir"), Row("planted", "1998")],
)
