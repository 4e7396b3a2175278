"""The pages of imports, with what they show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import marshmallow as ma
from flask import Response, current_app, request
from werkzeug.datastructures import MultiDict

from app.auth.principal import Principal
from app.formats.crs_search import Position, System, find_systems
from app.geometry.countries import country_at, country_name
from app.http.errors import ApiError, Detail, ValidationFailed
from app.imports import listing
from app.imports.available_actions import available_actions
from app.imports.features.geometries import NO_POINT
from app.imports.questions import project_places
from app.imports.schemas import ImportCreateSchema
from app.pages.filters import filtered
from app.pages.imports import settings_form, words
from app.pages.project_choice import find_projects, projects_by_id
from app.policy.bounds import PAGE_MAX
from app.policy.files import FEATURES, FORMATS_IN
from app.policy.imports import IMPORT_DAYS, WORKING
from app.site.forms import Draft, errors_by_field, form_page, sent_texts
from app.site.live import live_part
from app.site.pages import page
from app.site.signed_in import is_from_script

_PER_PAGE: Final = 50
_CHOICES: Final = 100  # projects that assets can be imported into
_FEATURES_PER_PAGE: Final = 100
_SYSTEMS: Final = 20
_SEARCH_LENGTH: Final = 100  # characters

# What the page shows besides the verdicts, as the service takes it.
_OTHERS: Final[dict[str, dict[str, Any]]] = {
    "overlapping": {"overlapping": True},
    "left_out": {"left_out": True},
    "kept": {"state": "kept"},
}


class Shown(NamedTuple):
    """Which features of an import the page shows."""

    show: str  # a verdict, a name in _OTHERS or empty for all
    page: int

    @property
    def wanted(self) -> dict[str, Any]:
        """As the service takes it."""
        chosen: dict[str, Any] = {"verdict": self.show} if self.show else {}
        if self.show in _OTHERS:
            chosen = _OTHERS[self.show]
        return {**chosen, "page": self.page, "per_page": _FEATURES_PER_PAGE}

    def query(self, **others: Any) -> str:
        """The query of an address that shows these features, but for what is named."""
        return filtered("", {**self._asdict(), **others}, {"page": 1})


def shown_features() -> Shown:
    """Which features the address of the request asks for."""
    show = request.args.get("show", "")
    return Shown(show if show in (*words.VERDICTS, *_OTHERS) else "", _page_number())


def _shown_with(account_id: str, import_id: str) -> Shown:
    """Likewise, or the page of all features that has the one that the address names."""
    number = request.args.get("feature", type=int)
    if number is None:
        return shown_features()
    before = listing.count_before(account_id, import_id, min(max(number, 1), FEATURES))
    return Shown("", before // _FEATURES_PER_PAGE + 1)


def checked(schema: type[ma.Schema], values: dict[str, Any]) -> dict[str, Any]:
    """Values as a schema loads them. Raises ValidationFailed."""
    try:
        loaded: dict[str, Any] = schema().load(values)
    except ma.ValidationError as error:
        details = [Detail(name, " ".join(found)) for name, found in errors_by_field(error).items()]
        raise ValidationFailed(details=details) from None
    return loaded


def uploaded() -> dict[str, Any]:
    """The file of the form and what it becomes. Raises ValidationFailed."""
    if not request.files.get("file"):
        raise ValidationFailed(details=[Detail("file", "Choose a file.")])
    values: dict[str, Any] = {"file": request.files["file"], "kind": request.form.get("kind", "")}
    if values["kind"] == "assets":
        if not request.form.get("project_id"):
            message = "Choose the project that the assets belong to."
            raise ValidationFailed(details=[Detail("project_id", message)])
        values["project_id"] = request.form["project_id"]
    return checked(ImportCreateSchema, values)


def list_page(principal: Principal) -> Response:
    """The list of imports."""
    number = _page_number()
    records, total = listing.list_imports(principal, page=number, per_page=_PER_PAGE)
    projects = _project_names(principal.account_id, (each["project_id"] for each in records))
    return page(
        "imports/imports.html",
        imports=records,
        total=total,
        number=number,
        pages=math.ceil(total / _PER_PAGE),
        projects=projects,
        days=IMPORT_DAYS,
        words=words,
        limits=words.limits(_most_bytes()),
    )


def upload_page(principal: Principal, error: ApiError | None = None) -> Response:
    """The form to upload a file, with what was wrong with it."""
    draft = Draft(sent_texts(request.values, ("file", "kind", "project_id", "search")))
    texts = draft.texts
    texts["kind"] = texts["kind"] or ("assets" if texts["project_id"] else "projects")
    if error is not None:
        draft.show(error)
    found, total = _project_choices(principal.account_id, texts["search"], texts["project_id"])
    return form_page(
        "imports/new.html",
        draft,
        error.status if error else None,
        projects=found,
        more=total - _CHOICES,
        most=_most_bytes(),
        size=words.size(_most_bytes()),
        limits=words.limits(_most_bytes()),
    )


def project_options(principal: Principal) -> Response:
    """The choices of the menu of projects, for a search."""
    search, chosen = request.args.get("search", ""), request.args.get("project_id")
    found, total = _project_choices(principal.account_id, search, chosen)
    more = total - _CHOICES
    return page("imports/options.html", projects=found, chosen=chosen, more=more)


def import_page(
    principal: Principal,
    import_id: str,
    error: ApiError | None = None,
    typed: MultiDict[str, str] | None = None,
) -> Response:
    """One import; for a script without what is around it.

    Args:
        typed: the form that says how the file is read, if it was sent.
    """
    found = listing.read_import(principal, import_id)
    shown = _shown_with(principal.account_id, import_id)
    features, total = listing.list_features(principal, import_id, **shown.wanted)
    projects = _project_names(principal.account_id, [found["project_id"]])
    asks_project = any(question["code"] == "geometry_type" for question in found["questions"])
    has_map = any(map(_has_places, found["questions"]))
    search, systems_text = request.args.get("search", ""), request.args.get("systems")
    choosable, number = (
        _project_choices(principal.account_id, search, None) if asks_project else ([], 0)
    )
    values = {
        "found": found,
        "error": error,
        "can": available_actions(principal, import_id),
        "is_working": found["status"] in WORKING,
        "percent": words.percent(found),
        "why_not": words.why_not(found),
        "shown": shown,
        "features": features,
        "total": total,
        "pages": math.ceil(total / _FEATURES_PER_PAGE),
        "has_no_points": words.has_fault(found, NO_POINT),
        "choices": choosable,
        "more": number - _CHOICES,
        "search": search,
        "asked": "crs" if systems_text else "geometry_type" if search else None,
        "systems_text": systems_text,
        "systems": _systems(principal.account_id, found, systems_text or ""),
        "near": _near(principal.account_id) if has_map else [],
        "reading": settings_form.file_reading(found),
        "typed": typed or MultiDict(),
        "project": projects.get(found["project_id"]),
        "formats": FORMATS_IN,
        "words": words,
    }
    if is_from_script():
        return live_part("imports/one.html", **values)
    return page("imports/import.html", error.status if error else 200, **values)


def _has_places(question: Mapping[str, Any]) -> bool:
    return any(each["bbox"] for each in (question, *question["options"]))


def _near(account_id: str) -> list[tuple[float, float]]:
    """Where projects of the account are, for a small map."""
    return [(round(x, 3), round(y, 3)) for x, y in project_places(account_id)]


def _systems(account_id: str, found: Mapping[str, Any], text: str) -> list[System]:
    """The coordinate systems that a search finds, those first in which the file may be."""
    near = project_places(account_id) if text else []
    asked = (question.get("position") for question in found["questions"])
    position = next(filter(None, asked), None)
    return find_systems(text[:_SEARCH_LENGTH], near, _SYSTEMS, position, _country_of)


def _country_of(place: Position) -> str:
    code = country_at(*place)
    return country_name(code) if code else ""


def _page_number() -> int:
    return min(max(request.args.get("page", 1, int), 1), PAGE_MAX)


def _most_bytes() -> int:
    return int(current_app.config["SETTINGS"].max_import_bytes)


def _project_names(account_id: str, ids: Iterable[str | None]) -> dict[str, str]:
    """The names of projects by their ids, without those that are deleted."""
    found = projects_by_id(account_id, filter(None, ids))
    return {project_id: record["name"] for project_id, record in found.items()}


def _project_choices(
    account_id: str, search: str, chosen: str | None
) -> tuple[list[tuple[str, str]], int]:
    """The ids and names of the first projects that a search finds, with the chosen one, and how
    many it finds."""
    found, total, _ = find_projects(account_id, search.strip(), _CHOICES)
    choices = [(record["id"], record["name"]) for record in found]
    if chosen and chosen not in dict(choices):
        choices = [*_project_names(account_id, [chosen]).items(), *choices]
    return choices, total
