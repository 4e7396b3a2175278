"""What the list and the map of assets show: the filters in the address of the page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple

from app.assets.schemas import AccountAssetQuerySchema
from app.pages.filters import filtered, load_valid, metadata_filters, sentences
from app.pages.project_choice import ProjectChoice, choose_project
from app.values import clock

PER_PAGE: Final = 50
_DEFAULT: Final = {"sort": "updated"}
_NAMES: Final = ("search", "type", "status", "bbox", "changed", "sort", "page")
# How the list can be sorted: the words of the menu, by what stands in the address.
SORTS: Final[dict[str, tuple[str, str, str]]] = {
    "updated": ("Sort: last change", "updated_at", "desc"),
    "unchanged": ("Sort: longest unchanged", "updated_at", "asc"),
    "created": ("Sort: newest", "created_at", "desc"),
    "oldest": ("Sort: oldest", "created_at", "asc"),
}
# When an asset has changed last, in days.
CHANGED: Final[dict[str, str]] = {
    "1": "In the last 24 hours",
    "7": "In the last 7 days",
    "30": "In the last 30 days",
}


class AssetFilters(NamedTuple):
    """The filters of one request, and what was wrong with them."""

    chosen: dict[str, str]  # as the address has them
    project: ProjectChoice
    values: dict[str, Any]  # as ``AccountAssetQuerySchema`` loads them, without the project
    problems: list[str]

    @property
    def home(self) -> str:
        """The address of the page without filters."""
        return "/assets"

    @property
    def page(self) -> int:
        return int(self.values["page"])

    @property
    def metadata(self) -> dict[str, str]:
        """Values by the keys of the metadata."""
        found: dict[str, str] = self.values.get("metadata", {})
        return found

    @property
    def are_default(self) -> bool:
        """True if nothing is left out."""
        names = {"search", "type", "status", "bbox", "changed", "project_id", "project"}
        return not (names & self.chosen.keys() or self.metadata)

    def address(self, path: str = "/assets", **others: Any) -> str:
        """The address of a page with these filters, but for those that are named."""
        return filtered(path, {**self.chosen, "page": None, **others}, _DEFAULT)


def read_filters(account_id: str, arguments: Mapping[str, str]) -> AssetFilters:
    """The filters of an address. Invalid ones are left out and reported in ``problems``."""
    chosen = _DEFAULT | {name: arguments[name].strip() for name in _NAMES if name in arguments}
    chosen |= metadata_filters(arguments)
    chosen = {name: value for name, value in chosen.items() if value}
    if chosen.get("sort") not in SORTS:
        chosen["sort"] = _DEFAULT["sort"]
    unknown = []
    if chosen.get("changed", "1") not in CHANGED:
        unknown = [f"changed: Must be one of: {', '.join(CHANGED)}."]
        del chosen["changed"]
    loaded, wrong = load_valid(AccountAssetQuerySchema(), _query_of(chosen))
    for name in wrong:
        chosen.pop(name, None)
    sent = {name: arguments.get(name, "").strip() for name in ("project_id", "project")}
    project = choose_project(account_id, sent["project_id"], arguments.get("project"))
    if project.id:
        chosen["project_id"] = project.id
    elif project.problem:
        chosen |= {name: value for name, value in sent.items() if value}
    return AssetFilters(
        chosen, project, loaded | {"per_page": PER_PAGE}, unknown + sentences(wrong)
    )


def _query_of(chosen: Mapping[str, str]) -> dict[str, str]:
    _, sort, order = SORTS[chosen["sort"]]
    query = {name: value for name, value in chosen.items() if name != "changed"}
    if days := chosen.get("changed"):
        since = clock.now() - timedelta(days=int(days))
        query["updated_since"] = clock.format_time(since)
    return query | {"sort": sort, "order": order}
