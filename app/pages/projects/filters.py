"""What the list and the map of projects show: the filters in the address of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.pages.filters import filtered, load_valid, metadata_filters, sentences
from app.policy.request_limits import PROJECT_STATUSES
from app.projects.listing import count_with_status
from app.projects.schemas import ProjectQuerySchema
from app.usage.counters import project_total, read_counters

PER_PAGE: Final = 50
ANY: Final = "any"  # in the address: projects of any status
_DEFAULT: Final = {"status": "active", "sort": "name"}
# How the list can be sorted: the words of the menu, by what stands in the address.
SORTS: Final[dict[str, tuple[str, str, str]]] = {
    "name": ("Sort: name", "name", "asc"),
    "area": ("Sort: largest", "area_hectares", "desc"),
    "updated": ("Sort: last change", "updated_at", "desc"),
    "created": ("Sort: newest", "created_at", "desc"),
}


class ProjectFilters(NamedTuple):
    """The filters of one request, and what was wrong with them."""

    chosen: dict[str, str]  # as the address has them
    values: dict[str, Any]  # as ``ProjectQuerySchema`` loads them
    problems: list[str]

    @property
    def home(self) -> str:
        """The address of the page without filters."""
        return "/projects"

    @property
    def page(self) -> int:
        return int(self.values["page"])

    @property
    def status(self) -> str | None:
        """None: any."""
        return self.values.get("status")

    @property
    def metadata(self) -> dict[str, str]:
        """Values by the keys of the metadata."""
        found: dict[str, str] = self.values.get("metadata", {})
        return found

    @property
    def are_default(self) -> bool:
        """True if nothing is left out but what the page leaves out by itself."""
        names = {"search", "bbox", "metadata"}
        return not names & self.values.keys() and self.status == _DEFAULT["status"]

    def address(self, path: str = "/projects", **others: Any) -> str:
        """The address of a page with these filters, but for those that are named."""
        return filtered(path, {**self.chosen, "page": None, **others}, _DEFAULT)


def read_filters(arguments: Mapping[str, str]) -> ProjectFilters:
    """The filters of an address. Invalid ones are left out and reported in ``problems``."""
    names = ("search", "status", "sort", "bbox", "page")
    chosen = _DEFAULT | {name: arguments[name].strip() for name in names if name in arguments}
    chosen |= metadata_filters(arguments)
    chosen = {name: value for name, value in chosen.items() if value}
    if chosen.get("sort") not in SORTS:
        chosen["sort"] = _DEFAULT["sort"]
    _, sort, order = SORTS[chosen["sort"]]
    values = {**chosen, "sort": sort, "order": order, "per_page": str(PER_PAGE)}
    if values.get("status") == ANY:
        del values["status"]
    loaded, wrong = load_valid(ProjectQuerySchema(), values)
    chosen = {name: value for name, value in chosen.items() if name not in wrong}
    if "status" in wrong:
        chosen["status"] = loaded["status"] = _DEFAULT["status"]
    return ProjectFilters(chosen, loaded | {"per_page": PER_PAGE}, sentences(wrong))


def status_choices(account_id: str) -> list[tuple[str, str]]:
    """The choices of the menu of statuses, each with the number of projects."""
    counted = read_counters(account_id)
    choices = [
        (name, f"{name.capitalize()} ({count_with_status(counted, name):,})")
        for name in PROJECT_STATUSES
    ]
    return [*choices, (ANY, f"Any status ({project_total(counted):,})")]
