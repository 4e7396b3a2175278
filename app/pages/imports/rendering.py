"""Rendering the pages of imports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import marshmallow as ma
from flask import Response, request
from werkzeug.datastructures import MultiDict

from app.api.parsing import details_of
from app.auth.principal import Principal
from app.formats.crs_search import ProjectedSystem, find_systems
from app.http.errors import ApiError, InvalidField, ValidationFailed
from app.imports import listing
from app.imports.available_actions import available_actions
from app.imports.feature_rows import bytes_to_write
from app.imports.features.geometries import NO_POINT
from app.imports.schemas import ImportCreateSchema
from app.pages.filters import list_address
from app.pages.imports import settings_form, words
from app.pages.project_choice import OfferedProjects, offer_projects, projects_by_id
from app.policy.files import FEATURES, FORMATS_IN
from app.policy.imports import IMPORT_DAYS, WORKING
from app.policy.request_limits import PAGE_MAX
from app.projects.places import project_places
from app.settings.current import current_settings
from app.site.formats import byte_size
from app.site.forms import Draft, form_page, form_texts
from app.site.pages import live_part, page
from app.site.signed_in import is_from_script
from app.usage.counters import byte_limit, read_counters

_PER_PAGE: Final = 50
_PROJECT_CHOICES: Final = 100
_FEATURES_PER_PAGE: Final = 100
_SYSTEMS: Final = 20
_SEARCH_LENGTH: Final = 100  # characters

# The filters of the page besides the verdicts, as those of ``list_features``.
_FILTERS: Final[dict[str, dict[str, Any]]] = {
    "overlapping": {"overlapping": True},
    "left_out": {"left_out": True},
    "kept": {"state": "kept"},
}


class FeaturePage(NamedTuple):
    """A page of the features of an import. ``show``: a verdict, a name in _FILTERS, or empty for
    all."""

    show: str
    page: int

    @property
    def filters(self) -> dict[str, Any]:
        """The filters of ``list_features``."""
        verdict = {"verdict": self.show} if self.show else {}
        return _FILTERS.get(self.show, verdict)

    @property
    def paged(self) -> dict[str, Any]:
        """The arguments of ``list_features``."""
        return {**self.filters, "page": self.page, "per_page": _FEATURES_PER_PAGE}

    def query(self, **others: Any) -> str:
        """The query of an address that shows these features, with ``others`` replaced."""
        return list_address("", {**self._asdict(), **others}, {"page": 1})


def feature_page() -> FeaturePage:
    """The page of features that the request names."""
    show = request.args.get("show", "")
    return FeaturePage(show if show in words.SHOWN else "", _page_number())


def _page_with_feature(account_id: str, import_id: str) -> FeaturePage:
    """The page of all features with the one that the request names, or ``feature_page``."""
    number = request.args.get("feature", type=int)
    if number is None:
        return feature_page()
    before = listing.count_before(account_id, import_id, min(max(number, 1), FEATURES))
    return FeaturePage("", before // _FEATURES_PER_PAGE + 1)


def checked_values(schema: type[ma.Schema], values: dict[str, Any]) -> dict[str, Any]:
    """Load values by a schema. Raises ValidationFailed."""
    try:
        loaded: dict[str, Any] = schema().load(values)
    except ma.ValidationError as error:
        raise ValidationFailed(details=details_of(error)) from None
    return loaded


def upload_values() -> dict[str, Any]:
    """The values of the upload form. Raises ValidationFailed."""
    if not request.files.get("file"):
        raise InvalidField("file", "Choose a file.", "required")
    values: dict[str, Any] = {"file": request.files["file"], "kind": request.form.get("kind", "")}
    if values["kind"] == "assets":
        if not request.form.get("project_id"):
            message = "Choose the project that the assets belong to."
            raise InvalidField("project_id", message, "required")
        values["project_id"] = request.form["project_id"]
    return checked_values(ImportCreateSchema, values)


def list_page(principal: Principal) -> Response:
    """The list of imports."""
    number = _page_number()
    records, total = listing.list_imports(principal, page=number, per_page=_PER_PAGE)
    projects = _project_names(principal.account_id, (record["project_id"] for record in records))
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
    """The form to upload a file, with its errors."""
    draft = Draft(form_texts(request.values, ("file", "kind", "project_id", "search")))
    texts = draft.texts
    texts["kind"] = texts["kind"] or ("assets" if texts["project_id"] else "projects")
    if error is not None:
        draft.show(error)
    return form_page(
        "imports/new.html",
        draft,
        error.status if error else None,
        offered=_offered(principal, texts["search"], texts["project_id"]),
        most=_most_bytes(),
        size=byte_size(_most_bytes()),
        limits=words.limits(_most_bytes()),
    )


def project_options(principal: Principal) -> Response:
    """The options of the menu of projects that a search finds."""
    search, chosen = request.args.get("search", ""), request.args.get("project_id")
    return page("imports/options.html", offered=_offered(principal, search, chosen))


def import_page(
    principal: Principal,
    import_id: str,
    error: ApiError | None = None,
    typed: MultiDict[str, str] | None = None,
) -> Response:
    """One import; for a script only the part that changes.

    Args:
        typed: the form for how the file is read, if it was sent.
    """
    record = listing.read_import(principal, import_id)
    selection = _page_with_feature(principal.account_id, import_id)
    features, total = listing.list_features(principal, import_id, **selection.paged)
    projects = _project_names(principal.account_id, [record["project_id"]])
    asks_project = any(question["code"] == "geometry_type" for question in record["questions"])
    near = []  # for a small map
    if any(item["bbox"] for each in record["questions"] for item in (each, *each["options"])):
        near = [(round(x, 3), round(y, 3)) for x, y in project_places(principal.account_id)]
    search, systems_text = request.args.get("search", ""), request.args.get("systems")
    values = {
        "record": record,
        "error": error,
        "can": available_actions(principal, import_id),
        "is_working": record["status"] in WORKING,
        "percent": words.percent(record),
        "why_not": words.why_not(record),
        "selection": selection,
        "renamed": request.args.get("rename", type=int),
        "features": features,
        "total": total,
        "pages": math.ceil(total / _FEATURES_PER_PAGE),
        "has_no_points": words.has_fault(record, NO_POINT),
        "offered": _offered(principal, search, None) if asks_project else None,
        "search": search,
        "asked": "crs" if systems_text else "geometry_type" if search else None,
        "systems_text": systems_text,
        "systems": _searched_systems(principal.account_id, record, systems_text or ""),
        "near": near,
        "reading": settings_form.file_reading(record),
        "typed": typed or MultiDict(),
        "project": projects.get(record["project_id"]),
        "formats": FORMATS_IN,
        "words": words,
        "plan_use": words.plan_use(record, principal.plan),
        "no_room": _no_room(principal.account_id, record),
    }
    if is_from_script():
        return live_part("imports/one.html", **values)
    return page("imports/import.html", error.status if error else 200, **values)


def _no_room(account_id: str, record: Mapping[str, Any]) -> str | None:
    """A sentence about an import that the account has no room for."""
    limit = byte_limit()
    if limit is None or record["status"] != "ready":
        return None
    room = max(0, limit - read_counters(account_id).stored_bytes)
    needed = bytes_to_write(account_id, record["id"])
    sentence = (
        f"It needs about {byte_size(needed)} of storage, and the account has room for "
        f"{byte_size(room)}: what does not fit would not be written."
    )
    return sentence if needed > room else None


def _searched_systems(
    account_id: str, record: Mapping[str, Any], text: str
) -> list[ProjectedSystem]:
    """The coordinate systems that a search finds, the likeliest for the file first."""
    near = project_places(account_id) if text else []
    positions = (question.get("position") for question in record["questions"])
    position = next(filter(None, positions), None)
    return find_systems(text[:_SEARCH_LENGTH], near, _SYSTEMS, position)


def _page_number() -> int:
    return min(max(request.args.get("page", 1, int), 1), PAGE_MAX)


def _most_bytes() -> int:
    return int(current_settings().max_import_bytes)


def _project_names(account_id: str, ids: Iterable[str | None]) -> dict[str, str]:
    """The names of projects by their ids, without those that are deleted."""
    projects = projects_by_id(account_id, filter(None, ids))
    return {project_id: record["name"] for project_id, record in projects.items()}


def _offered(principal: Principal, search: str, chosen: str | None) -> OfferedProjects:
    """The projects of a menu."""
    ids = filter(None, [chosen])
    return offer_projects(principal.account_id, search, ids, _PROJECT_CHOICES)
