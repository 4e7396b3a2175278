"""Filling in what plots lack: a property of the metadata of many projects and assets, a part of
them in each request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import marshmallow as ma
from flask import current_app
from werkzeug.datastructures import MultiDict

from app.api.expensive import expensive_work
from app.assets.schemas import AssetUpdateSchema
from app.assets.service import lock_asset, update_asset
from app.auth.principal import Principal
from app.exports.service import features_for_eudr
from app.formats.writers.eudr_plots import Reading, country_error, country_of_plot, read_plots
from app.formats.writers.features import Feature
from app.http.errors import Detail, NotFound, ValidationFailed
from app.models import Asset, Project
from app.pages.eudr.choices import Choices
from app.pages.eudr.words import ALL_PLOTS, FIELD_OF, LABELS, country_choices
from app.policy.countries import COUNTRY_CODES
from app.policy.eudr import AREA, COUNTRY, NAME, NAME_LENGTH
from app.projects.lookup import lock_project
from app.projects.schemas import ProjectUpdateSchema
from app.projects.service import update_project
from app.site.forms import errors_by_field
from app.values import processor_clock
from app.values.ids import is_id
from app.values.strict_json import loads
from app.values.text import line_problem


class Wanted(NamedTuple):
    """What is to be filled in.

    Args:
        code: of the group.
        field: the property.
        value: of the property; None: remove it.
        is_named: the name of each plot is its value.
        country: only of the plots that lie in it; empty: of all.
        ids: of projects and assets; empty: of the whole group.
        text: the value as it was typed.
    """

    code: str
    field: str
    value: str | float | None
    is_named: bool
    country: str
    ids: frozenset[str]
    text: str

    @property
    def button(self) -> str:
        """The name of the button that asks for it."""
        return "named" if self.is_named else "measure" if self.value is None else "which"

    def value_for(self, plot: Feature) -> str | float | None:
        """The value of a plot."""
        return plot.properties["name"] if self.is_named else self.value


class Failure(NamedTuple):
    """A plot that could not be filled, and why."""

    id: str
    message: str


def read_wanted(form: MultiDict[str, str]) -> Wanted:
    """What a form of the page asks for. Raises ValidationFailed."""
    code = form.get("code", "")
    field = FIELD_OF.get(code)
    if code == ALL_PLOTS:
        field = NAME if "named" in form else form.get("field")
    if field not in LABELS:
        raise ValidationFailed(details=[Detail("code", "Reload the page, and try again.")])
    ids = frozenset(form.getlist("only") or form.getlist("ids"))
    country, is_named = form.get("set", ""), field == NAME and "named" in form
    is_measured = field == AREA and "measure" in form
    which = form.get("named") or form.get("measure") or form.get("which")
    which = "selected" if "only" in form else "all" if country else which
    if which != "all" and not ids:
        message = "Tick the plots first, or set it for all of them."
        raise ValidationFailed(details=[Detail("ids", message)])
    text = country if field == COUNTRY and country else form.get("value", "").strip()
    value = None if is_named or is_measured else _value(field, text)
    ids = frozenset() if which == "all" else ids
    return Wanted(code, field, value, is_named, country, ids, text)


def _value(field: str, text: str) -> str | float:
    """What was typed, as it is stored. Raises ValidationFailed."""
    problem = None
    if not text:
        verb = "Choose" if field == COUNTRY else "Type"
        problem = f"{verb} the {LABELS[field].lower()} first."
    elif field == COUNTRY:
        codes = {name.casefold(): code for code, name in country_choices()}
        code = codes.get(text.casefold(), text.upper())
        problem = None if code in COUNTRY_CODES else country_error(text)
        text = text if problem else code
    elif field == AREA:
        return _hectares(text)
    elif len(text) > NAME_LENGTH:
        problem = f"Shorten it to {NAME_LENGTH} characters; it has {len(text):,}."
    problem = problem or line_problem(text)
    if problem:
        raise ValidationFailed(details=[Detail("value", problem)])
    return text


def _hectares(text: str) -> float:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        number = 0.0
    if not 0 < number < 10**9:
        message = "Type the hectares as a number above 0, such as 2.5."
        raise ValidationFailed(details=[Detail("value", message)])
    return number


def find_plots(
    principal: Principal, choices: Choices, wanted: Wanted, skipped: frozenset[str]
) -> list[Feature]:
    """The plots that are to be filled in, without their geometries: there may be many.

    Args:
        skipped: the ids of those that could not be before.
    """
    with expensive_work():
        found = [each for each in _found(principal, choices, wanted) if each.id not in skipped]
    processor_clock.restart()
    return found


def fill_plots(principal: Principal, wanted: Wanted, plots: Iterable[Feature]) -> list[Failure]:
    """Fill in some plots. Returns those that could not be.

    Raises:
        Forbidden: the account is full.
    """
    tried = [(each, _fill_one(principal, wanted, each)) for each in plots]
    return [
        Failure(each.id, f"“{each.properties['name']}” was not changed. {why}")
        for each, why in tried
        if why
    ]


def _found(principal: Principal, choices: Choices, wanted: Wanted) -> Iterator[Feature]:
    """Yield the plots of a group that are to be filled."""
    export = choices.export(principal)
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    features = features_for_eudr(export, app)
    if wanted.field != AREA and wanted.code != ALL_PLOTS:  # what is drawn has no say in it
        features = map(_without_boundary, features)
    for reading in read_plots(features, export.eudr):
        if _is_meant(reading, wanted):
            yield reading.feature._replace(geometry=None)


def _without_boundary(feature: Feature) -> Feature:
    return feature if is_id("asset", feature.id) else feature._replace(geometry=None)


def _is_meant(reading: Reading, wanted: Wanted) -> bool:
    if wanted.ids and reading.feature.id not in wanted.ids:
        return False
    if wanted.code == ALL_PLOTS:
        own = _value_in(reading.feature.properties, wanted.field)
        return bool(reading.plots) and own != wanted.value_for(reading.feature)
    if all(each.code != wanted.code for each in (*reading.problems, *reading.warnings)):
        return False
    return not wanted.country or country_of_plot(reading.feature) == wanted.country


def _fill_one(principal: Principal, wanted: Wanted, feature: Feature) -> str | None:
    """Fill in one plot. Returns why it could not be."""
    project_id = feature.properties["project_id"] if is_id("asset", feature.id) else None
    try:
        record: Project | Asset
        if project_id is None:
            record = lock_project(principal.account_id, feature.id)
        else:
            record = lock_asset(principal.account_id, project_id, feature.id)
    except NotFound:
        return "It was deleted meanwhile."
    metadata: dict[str, Any] = loads((record.metadata_json or "{}").encode())
    if _value_in(metadata, wanted.field) != _value_in(feature.properties, wanted.field):
        return "Somebody changed it meanwhile. Look at it again."
    given = {"metadata": _filled(metadata, wanted.field, wanted.value_for(feature))}
    try:
        if project_id is None:
            update_project(principal, feature.id, ProjectUpdateSchema().load(given))
        else:
            update_asset(principal, project_id, feature.id, AssetUpdateSchema().load(given))
    except ma.ValidationError as error:
        messages = errors_by_field(error).get("metadata", [])
        return f"Its metadata has no room for {wanted.field}: {' '.join(messages)}"
    return None


def _keys(metadata: Mapping[str, Any], field: str) -> list[str]:
    """The keys of a metadata that are a property but for their case: the one that counts last."""
    keys = [key for key in metadata if key.lower() == field.lower() and key != field]
    return [*keys, field] if field in metadata else keys


def _value_in(metadata: Mapping[str, Any], field: str) -> Any:
    keys = _keys(metadata, field)
    return metadata[keys[-1]] if keys else None


def _filled(
    metadata: dict[str, Any], field: str, value: str | float | None
) -> dict[str, Any] | None:
    """The metadata with the property; None: there is none left."""
    keys = _keys(metadata, field)
    if value is not None:
        return metadata | {keys[-1] if keys else field: value}
    return {key: value for key, value in metadata.items() if key not in keys} or None
