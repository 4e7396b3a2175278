"""The filters of the list and the map of assets, in the address of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from app.assets.schemas import AccountAssetQuerySchema
from app.pages.filters import RecordFilters, chosen_filters, load_chosen
from app.pages.project_choice import ProjectChoice, choose_project
from app.policy.fields import ASSET
from app.values import clock

_DEFAULT: Final = {"sort": "updated"}
# The orders of the list, by their names in the address: label, column, direction.
SORTS: Final[dict[str, tuple[str, str, str]]] = {
    "updated": ("Sort: last change", "updated_at", "desc"),
    "unchanged": ("Sort: longest unchanged", "updated_at", "asc"),
    "created": ("Sort: newest", "created_at", "desc"),
    "oldest": ("Sort: oldest", "created_at", "asc"),
}
# Days since the last change of an asset.
CHANGED: Final[dict[str, str]] = {
    "1": "In the last 24 hours",
    "7": "In the last 7 days",
    "30": "In the last 30 days",
}


@dataclass(frozen=True)
class AssetFilters(RecordFilters):
    """The filters of the list and the map of assets. ``values`` do not have the project."""

    home = "/assets"
    default = _DEFAULT
    fields = ASSET

    project: ProjectChoice

    @property
    def are_default(self) -> bool:
        """True if nothing is left out."""
        return not (self.narrowing or self.project.problem)


def read_filters(account_id: str, arguments: Mapping[str, str]) -> AssetFilters:
    """Read the filters of an address. Invalid ones are left out and reported in ``problems``."""
    chosen = _DEFAULT | chosen_filters(ASSET, arguments, "bbox", "changed", "sort", "page")
    if chosen.get("sort") not in SORTS:
        chosen["sort"] = _DEFAULT["sort"]
    unknown = []
    if chosen.get("changed", "1") not in CHANGED:
        unknown = [f"changed: Must be one of: {', '.join(CHANGED)}."]
        del chosen["changed"]
    parameters = _query_of(chosen)
    typed, loaded, problems = load_chosen(AccountAssetQuerySchema(), ASSET, chosen, parameters)
    named = {name: arguments.get(name, "").strip() for name in ("project_id", "project")}
    project = choose_project(account_id, named["project_id"], arguments.get("project"))
    if project.id:
        chosen["project_id"] = parameters["project_id"] = project.id
    elif project.problem:
        chosen |= {name: text for name, text in named.items() if text}
    return AssetFilters(typed, chosen, parameters, loaded, unknown + problems, project)


def _query_of(chosen: Mapping[str, str]) -> dict[str, str]:
    _, sort, order = SORTS[chosen["sort"]]
    query = {name: value for name, value in chosen.items() if name != "changed"}
    if days := chosen.get("changed"):
        since = clock.now() - timedelta(days=int(days))
        query["updated_since"] = clock.format_time(since)
    return query | {"sort": sort, "order": order}
