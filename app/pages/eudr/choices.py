"""The choices of the page: the plots and the options of a file for the EUDR, from its address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.auth.principal import Principal
from app.exports.schemas import ProjectExportQuerySchema
from app.exports.service import Export, export_of
from app.geometry.countries import country_name
from app.pages.filters import (
    chosen_filters,
    field_sentences,
    filter_words,
    list_address,
    load_valid_filters,
)
from app.policy.fields import PROJECT
from app.policy.request_limits import PROJECT_STATUSES

ANY: Final = "any"  # in the address: projects of any status
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
    """The choices of one request.

    Args:
        chosen: as the address has them.
        values: as ``ProjectExportQuerySchema`` loads them.
        problems: what is wrong with them.
    """

    chosen: dict[str, str]
    values: dict[str, Any]
    problems: list[str]

    def address(self, path: str = "/eudr", **others: Any) -> str:
        """The address of a page with these choices, and ``others`` in place of some."""
        return list_address(path, {**self.chosen, **others}, _DEFAULT)

    @property
    def are_filters_default(self) -> bool:
        """True if only the plots of projects that are not active are left out."""
        is_part = any(self.chosen[name] != "true" for name in ("boundaries", "points"))
        others = self.chosen.keys() - _DEFAULT.keys()
        return not (others or is_part) and self.chosen["status"] == _DEFAULT["status"]

    @property
    def tags(self) -> dict[str, str]:
        """The words of the chosen filters that no control shows, by parameter."""
        words = filter_words(PROJECT, self.chosen)
        return {name: words[name] for name in words if name not in ("status", "country")}

    @property
    def are_default(self) -> bool:
        """True if all choices but ``divide`` are those that the page proposes."""
        return self.address(divide=None) == "/eudr"

    def summary(self) -> str:
        """The most important choices, in a few words."""
        chosen = self.chosen
        status = STATUSES[chosen["status"]].lower()
        text = "all projects" if chosen["status"] == ANY else f"{status} projects"
        text += f" with “{chosen['search']}”" if "search" in chosen else ""
        text += f", plots in {country_name(chosen['country'])}" if "country" in chosen else ""
        text = ", ".join([text, *self.tags.values()])
        return f"{text}, for one producer" if chosen["variant"] == "1" else text

    def is_ticked(self, name: str) -> bool:
        return self.chosen[name] == "true"

    def export(self, principal: Principal) -> Export:
        """The export of the file."""
        values = {**self.values, "within": principal.project_ids}
        return export_of("projects", principal.account_id, values)


def read_choices(arguments: Mapping[str, str]) -> Choices:
    """The choices of an address. Invalid ones are left out and reported in ``problems``."""
    chosen = chosen_filters(PROJECT, arguments, *_DEFAULT)
    if FORM in arguments:
        chosen = dict.fromkeys(_ALWAYS_SHOWN, "false") | chosen
    chosen = _DEFAULT | chosen
    values = {"format": "eudr", **chosen}
    if values["status"] == ANY:
        del values["status"]
    loaded, errors = load_valid_filters(ProjectExportQuerySchema(), values)
    defaults = {name: value for name, value in _DEFAULT.items() if name in errors}
    chosen = defaults | {name: value for name, value in chosen.items() if name not in errors}
    loaded = load_valid_filters(ProjectExportQuerySchema(), defaults)[0] | loaded
    return Choices(chosen, loaded, field_sentences(PROJECT, errors))
