"""The choices of the page: the plots and the options of a file for the EUDR, from its address."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Final, NamedTuple

from app.assets.listing import asset_query, list_assets
from app.auth.principal import Principal
from app.exports.schemas import ProjectExportQuerySchema
from app.exports.service import Export, export_of
from app.geometry.countries import country_phrase
from app.http.errors import BadRequest, NotFound, ServiceUnavailable
from app.imports.listing import read_import
from app.jobs.valkey import valkey
from app.pages.eudr.words import country_names
from app.pages.filters import (
    chosen_filters,
    field_sentences,
    filter_words,
    list_address,
    load_valid_filters,
    refuse_problems,
)
from app.policy.eudr import PLOT_TYPE
from app.policy.fields import IMPORT, PROJECT
from app.policy.request_limits import LIST_IDS, PROJECT_STATUSES, SELECTED_IDS, SELECTION_SECONDS
from app.projects.listing import list_projects, project_query
from app.site.formats import pluralize
from app.values.ids import is_id, new_id

ANY: Final = "any"  # in the address: projects of any status
_DEFAULT: Final = {
    "status": "active",
    "simplified": "false",
    "holes": "split",
    "boundaries": "true",
    "points": "true",
    "cattle": "false",
    "divide": "false",
}
_EXACT: Final = ("ids", "selection", IMPORT.name)  # plots that were chosen, of any status
STATUSES: Final = {name: name.capitalize() for name in PROJECT_STATUSES} | {ANY: "Any status"}


class Choices(NamedTuple):
    """The choices of one request.

    Args:
        chosen: as the address has them.
        values: as ``ProjectExportQuerySchema`` loads them.
        problems: what is wrong with them.
        which: the plots that were chosen by ``_EXACT``, in words; empty: none were.
    """

    chosen: dict[str, str]
    values: dict[str, Any]
    problems: list[str]
    which: str

    def address(self, path: str = "/eudr", **others: Any) -> str:
        """The address of a page with these choices, and ``others`` in place of some."""
        return list_address(path, {**self.chosen, **others}, _default(self.chosen))

    @property
    def tags(self) -> dict[str, str]:
        """The words of the chosen filters that no control shows, by parameter."""
        words = filter_words(PROJECT, self.chosen) | {"bbox": "in this part of the map"}
        words |= dict.fromkeys(_EXACT, "")
        shown = ("status", "country")
        return {name: words[name] for name in words if name in self.chosen and name not in shown}

    @property
    def are_default(self) -> bool:
        """True if all choices but ``divide`` are those that the page proposes."""
        return self.address(divide=None) == "/eudr"

    def summary(self) -> str:
        """The most important choices, in a few words."""
        chosen = self.chosen
        status = "" if chosen["status"] == ANY else STATUSES[chosen["status"]].lower()
        text = self.which or f"{status or 'all'} projects"
        if self.which and status:
            text += f", {status}"
        text += f" with “{chosen['search']}”" if "search" in chosen else ""
        text += f", plots in {country_phrase(chosen['country'])}" if "country" in chosen else ""
        text = ", ".join([text, *filter(None, self.tags.values())])
        return f"{text}, for a simplified declaration" if self.is_ticked("simplified") else text

    def countries(self, places: Container[str]) -> dict[str, str]:
        """The names of the countries with plots, ``places``, and of the chosen one, by code."""
        chosen = self.chosen.get("country")
        names = country_names().items()
        return {code: name for code, name in names if code in places or code == chosen}

    def is_ticked(self, name: str) -> bool:
        return self.chosen[name] == "true"

    def export(self, principal: Principal) -> Export:
        """The export of the file."""
        values = {**self.values, "within": principal.project_ids}
        return export_of("projects", principal.account_id, values)


def read_choices(principal: Principal, arguments: Mapping[str, str]) -> Choices:
    """The choices of an address. Invalid ones are left out and reported in ``problems``.

    Raises:
        BadRequest: those that say which plots were chosen are invalid, or no longer kept: without
            them there would be too many.
    """
    others = ("selection", "ids", "bbox", "producer_key", *_DEFAULT)
    typed = chosen_filters(PROJECT, arguments, *others)
    default = _default(typed)
    _, errors = _load(default | typed)
    refuse_problems([f"{name}: {' '.join(errors[name])}" for name in _EXACT if name in errors])
    chosen = default | {name: text for name, text in typed.items() if name not in errors}
    loaded, _ = _load(chosen)
    if selection := chosen.get("selection"):
        loaded["ids"] = _selected(principal, selection)
    problems = field_sentences(PROJECT, errors)
    return Choices(chosen, loaded, problems, _which(principal, loaded))


def address_of(principal: Principal, ids: Sequence[str], simplified: str = "false") -> str:
    """The address of the page for these projects, with their plots, and these plots kept as points.
    More than an address has room for are kept for an hour.

    Raises:
        BadRequest: there are too many.
        ServiceUnavailable: they cannot be kept now.
    """
    chosen = {"simplified": simplified, "ids": ",".join(ids)}
    if len(ids) > SELECTED_IDS:
        raise BadRequest(f"Choose at most {SELECTED_IDS:,} at a time. The page EUDR has all plots.")
    if len(ids) > LIST_IDS:
        chosen["selection"], text = new_id("selection"), chosen.pop("ids")
        key = _selection_key(principal, chosen["selection"])
        if not valkey().attempt(lambda client: client.set(key, text, ex=SELECTION_SECONDS)):
            raise ServiceUnavailable
    return list_address("/eudr", chosen, _DEFAULT)


def _default(chosen: Mapping[str, str]) -> dict[str, str]:
    """The choices that the page proposes beside some."""
    return _DEFAULT | ({"status": ANY} if any(name in chosen for name in _EXACT) else {})


def _load(chosen: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """(values of the valid choices, messages for the others). The file is for as many producers as
    there are."""
    is_simplified = chosen["simplified"] == "true"
    values = {"format": "eudr_simplified" if is_simplified else "eudr", "variant": "2", **chosen}
    for name in ("selection", "simplified", *(("divide", "variant") if is_simplified else ())):
        values.pop(name, None)
    if values["status"] == ANY:
        del values["status"]
    loaded, errors = load_valid_filters(ProjectExportQuerySchema(), values)
    if chosen["simplified"] not in ("true", "false"):
        errors["simplified"] = ["Must be true or false."]
    return loaded, errors


def _selection_key(principal: Principal, selection: str) -> str:
    return f"canopy:selection:{principal.account_id}:{principal.user_id}:{selection}"


def _selected(principal: Principal, selection: str) -> tuple[str, ...]:
    """The ids of a selection. Raises BadRequest if it is not kept."""
    text = None
    if is_id("selection", selection):
        key = _selection_key(principal, selection)
        text = valkey().attempt(lambda client: client.get(key))
    if not text:
        raise BadRequest("What was ticked is kept for an hour, and is gone. Tick it again.")
    return tuple(text.decode().split(","))  # type: ignore[union-attr]


def _which(principal: Principal, values: Mapping[str, Any]) -> str:
    """The plots that were chosen, in words: ``the 8 projects of the import “oaks.kml”``."""
    ids, import_id = values.get("ids", ()), values.get(IMPORT.name)
    if not ids and not import_id:
        return ""
    query = {IMPORT.name: import_id, "within": principal.project_ids, "per_page": 1}
    plot_ids = tuple(each for each in ids if is_id("asset", each))
    own_ids = tuple(each for each in ids if not is_id("asset", each))
    projects = plots = 0
    if own_ids or not ids:
        filters = project_query(**query, ids=own_ids)
        _, projects = list_projects(principal.account_id, filters, boundaries=False)
    if plot_ids or not ids:
        filters = asset_query(**query, ids=plot_ids, type=PLOT_TYPE)
        _, plots = list_assets(principal.account_id, None, filters)
    words = f"the {_counted(projects, plots)}{' that you chose' if ids else ''}"
    if not import_id:
        return words
    try:
        return f"{words} of the import “{read_import(principal, import_id)['filename']}”"
    except NotFound:
        return f"{words} of an import that is no longer listed"


def _counted(projects: int, plots: int) -> str:
    if (projects, plots) in ((1, 0), (0, 1)):
        return "project" if projects else "plot"
    counts = [pluralize(projects, "project")] if projects or not plots else []
    counts += [pluralize(plots, "plot")] if plots else []
    return " and ".join(counts)
