"""Filling in a property of many plots, in the metadata of projects and assets: a part of them in
each request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import marshmallow as ma
from flask import current_app
from werkzeug.datastructures import MultiDict

from app.api.expensive import expensive_work
from app.assets.schemas import AssetUpdateSchema
from app.assets.service import lock_asset, update_asset
from app.auth.principal import Principal
from app.eudr.checking import PlotClock, read_plots
from app.eudr.plots import RecordPlots, country_code, country_error, country_of_plot
from app.exports.service import features_for_eudr
from app.formats.writers.features import Feature
from app.http.errors import InvalidField, NotFound
from app.models import Asset, Project
from app.pages.eudr.choices import Choices
from app.pages.eudr.words import ALL_PLOTS, FIELD_OF, LABELS, country_names
from app.policy.countries import COUNTRY_CODES
from app.policy.eudr import (
    AREA,
    CADASTRAL,
    CADASTRAL_LENGTH,
    COUNTRY,
    NAME,
    NAME_LENGTH,
    REPORT_SECONDS,
)
from app.projects.lookup import lock_project
from app.projects.schemas import ProjectUpdateSchema
from app.projects.service import update_project
from app.site.formats import reader
from app.site.forms import errors_by_field
from app.values import processor_clock
from app.values.ids import is_id
from app.values.strict_json import loads
from app.values.text import line_problem


class Filling(NamedTuple):
    """A property that is set or removed for plots of a group.

    Args:
        code: the group's.
        field: the property.
        value: its value; None: remove it.
        is_named: the name of each plot is its value.
        country: only for the plots that lie in it; empty: for all.
        ids: of projects and assets; empty: the whole group.
    """

    code: str
    field: str
    value: str | float | None
    is_named: bool
    country: str
    ids: frozenset[str]

    def value_for(self, plot: Feature) -> str | float | None:
        """The new value for a plot."""
        return plot.properties["name"] if self.is_named else self.value


class Failure(NamedTuple):
    """A plot that was not changed, and why."""

    id: str
    message: str


def read_filling(form: MultiDict[str, str]) -> Filling:
    """Read a form of the page. Raises ValidationFailed."""
    code = form.get("code", "")
    field = FIELD_OF.get(code)
    if code == ALL_PLOTS:
        field = NAME if "named" in form else form.get("field")
    if field not in LABELS:
        raise InvalidField("code", "Reload the page, and try again.", "not_one_of")
    ids = frozenset(form.getlist("only") or form.getlist("ids"))
    country, is_named = form.get("set", ""), field == NAME and "named" in form
    is_measured = field == AREA and "measure" in form
    scopes = (form.get(button) for button in ("named", "measure", "which"))
    if "only" not in form and (country or "all" in scopes):
        ids = frozenset()
    elif not ids:
        raise InvalidField("ids", "Tick the plots first, or set it for all of them.", "invalid")
    text = country if field == COUNTRY and country else form.get("value", "").strip()
    value = None if is_named or is_measured else _typed_value(field, text)
    return Filling(code, field, value, is_named, country, ids)


def _typed_value(field: str, text: str) -> str | float:
    """The value to store for a typed text. Raises ValidationFailed."""
    problem = None
    if not text:
        verb = "Choose" if field == COUNTRY else "Type"
        problem = f"{verb} the {LABELS[field].lower()} first."
    elif field == COUNTRY:
        codes = {name.casefold(): code for code, name in country_names().items()}
        code = codes.get(text.casefold(), country_code(text))
        problem = None if code in COUNTRY_CODES else country_error(text)
        text = text if problem else code
    elif field == AREA:
        with suppress(ValueError):
            if 0 < (number := float(reader().read(text).replace(",", "."))) < 10**9:
                return number
        problem = "Type the hectares as a number above 0, such as 2.5."
    elif len(text) > (most := CADASTRAL_LENGTH if field == CADASTRAL else NAME_LENGTH):
        problem = f"Shorten it to {most} characters; it has {len(text):,}."
    problem = problem or line_problem(text)
    if problem:
        raise InvalidField("value", problem, "invalid")
    return text


def find_plots(
    principal: Principal, choices: Choices, filling: Filling, skipped: frozenset[str]
) -> list[Feature]:
    """The plots to fill in, without their geometries: there may be many.

    Args:
        skipped: the ids of plots that could not be changed before.
    """
    with expensive_work():
        plots = [plot for plot in _plots_of(principal, choices, filling) if plot.id not in skipped]
    processor_clock.restart()
    return plots


def fill_plots(principal: Principal, filling: Filling, plots: Iterable[Feature]) -> list[Failure]:
    """Fill in some plots, and return those that were not changed.

    Raises:
        Forbidden: the account is full.
    """
    reasons = [(plot, _fill_plot(principal, filling, plot)) for plot in plots]
    return [
        Failure(plot.id, f"“{plot.properties['name']}” was not changed. {reason}")
        for plot, reason in reasons
        if reason
    ]


def _plots_of(principal: Principal, choices: Choices, filling: Filling) -> Iterator[Feature]:
    """Yield the plots to fill in."""
    export = choices.export(principal)
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    features = features_for_eudr(export, app)
    if filling.field != AREA and filling.code != ALL_PLOTS:  # no finding about the boundary
        features = map(_without_boundary, features)
    for record in read_plots(features, export.eudr, PlotClock(REPORT_SECONDS)):
        if _is_filled(record, filling):
            yield record.feature._replace(geometry=None)


def _without_boundary(feature: Feature) -> Feature:
    return feature if is_id("asset", feature.id) else feature._replace(geometry=None)


def _is_filled(record: RecordPlots, filling: Filling) -> bool:
    if filling.ids and record.feature.id not in filling.ids:
        return False
    if filling.code == ALL_PLOTS:
        value = _value_in(record.feature.properties, filling.field)
        return bool(record.plots) and value != filling.value_for(record.feature)
    if all(finding.code != filling.code for finding in (*record.problems, *record.warnings)):
        return False
    return not filling.country or country_of_plot(record.feature) == filling.country


def _fill_plot(principal: Principal, filling: Filling, feature: Feature) -> str | None:
    """Fill in one plot. Returns the reason if it was not changed."""
    project_id = feature.properties["project_id"] if is_id("asset", feature.id) else None
    try:
        record: Project | Asset
        if project_id is None:
            record = lock_project(principal.account_id, feature.id)
        else:
            record = lock_asset(principal.account_id, project_id, feature.id)
    except NotFound:
        return "It has been deleted in the meantime."
    metadata: dict[str, Any] = loads((record.metadata_json or "{}").encode())
    if _value_in(metadata, filling.field) != _value_in(feature.properties, filling.field):
        return "Somebody has changed it in the meantime. Look at it again."
    change = {"metadata": _with_value(metadata, filling.field, filling.value_for(feature))}
    try:
        if project_id is None:
            update_project(principal, feature.id, ProjectUpdateSchema().load(change))
        else:
            update_asset(principal, project_id, feature.id, AssetUpdateSchema().load(change))
    except ma.ValidationError as error:
        messages = errors_by_field(error).get("metadata", [])
        return f"Its metadata has no room for {filling.field}: {' '.join(messages)}"
    return None


def _keys_of_field(metadata: Mapping[str, Any], field: str) -> list[str]:
    """The keys that are the name of a property in any case, the one that counts last."""
    keys = [key for key in metadata if key.lower() == field.lower() and key != field]
    return [*keys, field] if field in metadata else keys


def _value_in(metadata: Mapping[str, Any], field: str) -> Any:
    keys = _keys_of_field(metadata, field)
    return metadata[keys[-1]] if keys else None


def _with_value(
    metadata: dict[str, Any], field: str, value: str | float | None
) -> dict[str, Any] | None:
    """The metadata with a property set, or removed if its value is None; None: none is left."""
    keys = _keys_of_field(metadata, field)
    if value is not None:
        return metadata | {keys[-1] if keys else field: value}
    return {key: value for key, value in metadata.items() if key not in keys} or None
