"""The filters of the list and the map of projects, in the address of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.pages.filters import RecordFilters, chosen_filters, is_metadata, load_chosen
from app.policy.fields import PROJECT
from app.policy.request_limits import PROJECT_STATUSES
from app.projects.listing import count_with_status
from app.projects.map.colors import COUNTRY
from app.projects.schemas import ProjectQuerySchema
from app.site import formats
from app.usage.counters import project_total, read_counters

ANY: Final = "any"  # status in the address
_DEFAULT: Final = {"status": "active", "sort": "name"}
# The orders of the list, by their names in the address: label, column, direction.
SORTS: Final[dict[str, tuple[str, str, str]]] = {
    "name": ("Sort: name", "name", "asc"),
    "area": ("Sort: largest", "area_hectares", "desc"),
    "smallest": ("Sort: smallest", "area_hectares", "asc"),
    "updated": ("Sort: last change", "updated_at", "desc"),
    "created": ("Sort: newest", "created_at", "desc"),
}


class ProjectFilters(RecordFilters):
    """The filters of the list and the map of projects."""

    home = "/projects"
    default = _DEFAULT
    fields = PROJECT

    @property
    def status(self) -> str | None:
        """The status; None for any."""
        return self.values.get("status")

    @property
    def color_by(self) -> str:
        """What the map is colored by, as in ``read_values``; empty for the status."""
        return self.chosen.get("color_by", "")

    @property
    def are_default(self) -> bool:
        """True if nothing is left out except what the page leaves out by default."""
        return self.narrowing == {"status": _DEFAULT["status"]}


def read_filters(arguments: Mapping[str, str]) -> ProjectFilters:
    """Read the filters of an address. Invalid ones are left out and reported in ``problems``."""
    chosen = _DEFAULT | chosen_filters(PROJECT, arguments, "sort", "bbox", "page", "color_by")
    if not (chosen.get("color_by") == COUNTRY or is_metadata(chosen.get("color_by", ""))):
        chosen.pop("color_by", None)
    if chosen.get("sort") not in SORTS:
        chosen["sort"] = _DEFAULT["sort"]
    _, sort, order = SORTS[chosen["sort"]]
    parameters = {**chosen, "sort": sort, "order": order}
    parameters.pop("color_by", None)
    if chosen.get("status") == ANY:
        del parameters["status"]
    typed, loaded, problems = load_chosen(ProjectQuerySchema(), PROJECT, chosen, parameters)
    if "status" not in chosen:
        chosen["status"] = parameters["status"] = loaded["status"] = _DEFAULT["status"]
    return ProjectFilters(typed, chosen, parameters, loaded, problems)


def status_choices(account_id: str) -> dict[str, str]:
    """Return the choices of the menu of statuses, each with the number of projects."""
    counts = read_counters(account_id)
    choices = {
        name: f"{name.capitalize()} ({formats.number(count_with_status(counts, name))})"
        for name in PROJECT_STATUSES
    }
    return choices | {ANY: f"Any status ({formats.number(project_total(counts))})"}
