"""What the file for the EUDR is to be, as the address of the page has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.auth.principal import Principal
from app.exports.schemas import ProjectExportQuerySchema
from app.exports.service import Export, export_of
from app.geometry.countries import country_name
from app.pages.filters import filtered, load_valid, metadata_filters, sentences
from app.policy.request_limits import PROJECT_STATUSES

ANY: Final = "any"  # in the address: projects of any status
_FILTERS: Final = ("status", "country", "search")
_DEFAULT: Final = {
    "status": "active",
    "variant": "2",
    "holes": "split",
    "boundaries": "true",
    "points": "true",
    "cattle": "false",
    "divide": "false",
}
_ALWAYS_SHOWN: Final = ("boundaries", "points", "cattle")
FORM: Final = "form"  # the form of the page was sent, which leaves out what is not ticked
STATUSES: Final = {name: name.capitalize() for name in PROJECT_STATUSES} | {ANY: "Any status"}


class Choices(NamedTuple):
    """The choices of one request, and what was wrong with them."""

    chosen: dict[str, str]  # as the address has them
    values: dict[str, Any]  # as ``ProjectExportQuerySchema`` loads them
    problems: list[str]

    def address(self, path: str = "/eudr", **others: Any) -> str:
        """The address of a page with these choices, but for those that are named."""
        return filtered(path, {**self.chosen, **others}, _DEFAULT)

    @property
    def are_filters_default(self) -> bool:
        """True if no plot is left out but those of projects that are not active."""
        is_narrowed = any(self.chosen.get(name) != _DEFAULT.get(name) for name in _FILTERS)
        is_part = any(self.chosen[name] != "true" for name in ("boundaries", "points"))
        return not (is_narrowed or is_part or self.values.get("metadata"))

    @property
    def are_default(self) -> bool:
        """True if nothing was chosen, or only what the page proposes."""
        return self.address(divide=None) == "/eudr"

    def summary(self) -> str:
        """The most important choices, in a few words."""
        chosen = self.chosen
        status = STATUSES[chosen["status"]].lower()
        text = "all projects" if chosen["status"] == ANY else f"{status} projects"
        text += f" with “{chosen['search']}”" if "search" in chosen else ""
        text += f", plots in {country_name(chosen['country'])}" if "country" in chosen else ""
        return f"{text}, for one producer" if chosen["variant"] == "1" else text

    def is_ticked(self, name: str) -> bool:
        return self.chosen[name] == "true"

    def export(self, principal: Principal) -> Export:
        """The export of the file."""
        values = {**self.values, "within": principal.project_ids}
        return export_of("projects", principal.account_id, values)


def read_choices(arguments: Mapping[str, str]) -> Choices:
    """The choices of an address. Invalid ones are left out and reported in ``problems``."""
    names = (*_DEFAULT, "country", "search")
    sent = {name: arguments[name].strip() for name in names if name in arguments}
    if FORM in arguments:
        sent = dict.fromkeys(_ALWAYS_SHOWN, "false") | sent
    chosen = _DEFAULT | {name: value for name, value in sent.items() if value}
    chosen |= metadata_filters(arguments)
    values = {"format": "eudr", **chosen}
    if values["status"] == ANY:
        del values["status"]
    loaded, wrong = load_valid(ProjectExportQuerySchema(), values)
    meant = {name: value for name, value in _DEFAULT.items() if name in wrong}
    chosen = meant | {name: value for name, value in chosen.items() if name not in wrong}
    loaded = load_valid(ProjectExportQuerySchema(), meant)[0] | loaded
    return Choices(chosen, loaded, sentences(wrong))
