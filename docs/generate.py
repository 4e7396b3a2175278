"""Fills the generated tables of the pages in this folder: ``python -m docs.generate``.

A table stands between two marks, ``<!-- generated: NAME -->`` and ``<!-- end: NAME -->``; what is
around them is written by hand. A test compares the pages with what this would write.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from datetime import timedelta
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from flask import Flask
from flask_smorest.spec.plugins import FlaskPlugin
from werkzeug.routing import Rule

from app.auth.guard import ANY_CREDENTIAL
from app.core import JOBS
from app.factory import create_app
from app.geometry import PROBLEM_CODES
from app.geometry.warnings import WARNING_CODES
from app.policy import account_export, audit, request_limits
from app.policy.causes import CAUSES
from app.policy.deprecations import DEPRECATIONS
from app.policy.events import EVENTS, EventKind
from app.policy.metrics import METRICS
from app.policy.permissions import INCLUDES, PERMISSIONS, PROFILE, ROLES
from app.policy.plans import PLANS, Plan
from app.policy.rate_limits import (
    AREAS,
    FORM_POSTS,
    FORMS,
    LONG_FORM_POSTS,
    LONG_FORMS,
    ROUTES,
    TIERS,
    WINDOW_SECONDS,
)
from app.site.pages import PageBlueprint
from app.values.clock import describe_duration
from config import ROOT, load_settings, setting_docs

FOLDER: Final = Path(__file__).parent
COMMAND: Final = ".venv/bin/python -m docs.generate"

# What is not the name of a permission.
_NEEDS: Final = {
    ANY_CREDENTIAL: "any credential",
    PROFILE: "any credential; an OAuth token `profile`",
}

# What a form can be about (app.policy.rate_limits).
_SUBJECTS: Final = {
    "email": "the email address entered",
    "token": "the token in the URL",
    "person": "the signed-in person",
    "sign-in": "the pending sign-in",
    "attempt": "the pending single sign-on",
}

_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_MARKED = re.compile(r"<!-- generated: ([\w-]+) -->\n.*?<!-- end: \1 -->", re.DOTALL)

# What each constant of app.policy.request_limits limits.
_REQUEST_LIMITS: Final = {
    "NAME_LENGTH": "characters of a name",
    "SLUG_LENGTH": "characters of a slug",
    "DESCRIPTION_LENGTH": "characters of a description",
    "EXTERNAL_ID_LENGTH": "characters of an `external_id`",
    "SEARCH_LENGTH": "characters of `search`",
    "GEOMETRY_POSITIONS": "positions of one boundary, including the closing ones",
    "OVERLAPS_SHOWN": "overlaps in a response, the largest ones",
    "OVERLAP_M2": "m² of an overlap that counts, at least",
    "OVERLAP_METERS": "m that an overlap that counts is wide on the average, at least",
    "MAP_ZOOM": "largest `zoom` of a map",
    "MAP_FEATURES": "features of a map, those of the largest projects",
    "MAP_BYTES": "bytes of shapes in a map; other projects are points",
    "ASSETS_MAP_FEATURES": "assets on the map of the page of assets",
    "BODY_VALUES": "values in a body",
    "BODY_CONTAINERS": "arrays and objects in a body",
    "BODY_STRINGS": "strings and names in a body",
    "BODY_ESCAPES": "escaped characters in a body",
    "METADATA_BYTES": "bytes of `metadata` as JSON",
    "METADATA_FILTERS": "keys of the metadata that a list is filtered by at once",
    "METADATA_KEYS": "top-level keys of `metadata`",
    "METADATA_LEVELS": "levels of objects and arrays in each other in `metadata`",
    "PER_PAGE_DEFAULT": "records per page without `per_page`",
    "PER_PAGE_MAX": "largest `per_page`",
    "PAGE_MAX": "largest `page`",
    "LIST_IDS": "`ids` in one request for a list",
    "SELECTED_IDS": "records that are ticked on a page and kept for a while",
    "SELECTION_SECONDS": "for which they are kept, in seconds",
    "VOCABULARY_LENGTH": "characters of an asset's `type` and `status`",
    "RESERVED_SLUGS": "reserved slugs: whatever has such a name gets one that ends in `-2`",
    "IDEMPOTENCY_KEY_LENGTH": "characters of an `Idempotency-Key`",
    "IDEMPOTENCY_HOURS": "hours that the response to an `Idempotency-Key` is stored",
    "IDEMPOTENCY_BYTES": "bytes of such responses of an account that are stored in these hours",
    "EVENT_DAYS": "days that an event is kept",
    "REQUEST_DAYS": "days that the number of a credential's requests is kept",
    "REQUEST_DAYS_READ": "days in one response of `GET /v1/account/usage/requests`",
    "REQUEST_DAYS_DEFAULT": "days in a response of `GET /v1/account/usage/requests` without "
    "`since`",
    "INVITATIONS_A_DAY": "invitations that an account can send in 24 hours: as many as its plan "
    "has seats, but no fewer than the first number and no more than the second",
    "PAGE_KEYS": "API keys of an account, or service tokens, that are not over; its pages make no "
    "more than these",
    "PROJECTS_OF_CREDENTIAL": "projects that one credential may be limited to",
    "KEY_DAYS": "days after which a new API key ends, unless another end is chosen",
    "EXPIRY_MAILED_DAYS": "days before a key expires in which whoever made it gets an email",
    "ALLOWLIST_ENTRIES": "IP addresses and networks in the allowlist of a service token",
}


# The values of a field, which the description of the API has; and what only the service itself
# works with: app/policy/request_limits.py says what it is.
_INNER: Final = {
    "PROJECT_STATUSES",
    "BOUNDARY_SOURCES",
    "PROJECT_SORTS",
    "ASSET_SORTS",
    "ACCOUNT_TYPES",
    "ASSET_TYPES",
    "ASSET_STATUSES",
    "VALIDATION_SECONDS",
    "OVERLAY_SECONDS",
    "OVERLAY_LOCKED_SECONDS",
    "OVERLAP_CANDIDATES",
    "OVERLAPS_SECONDS",
    "MAP_LEVELS",
    "MAP_LEAST_PIXELS",
    "MAP_SHORT_BYTES",
    "MAP_WAITING_BYTES",
    "MAP_NEAR",
    "MAP_SEARCHED",
    "COLOR_VALUES",
    "COLOR_CLASSES",
    "COLOR_PROJECTS",
    "COLOR_KEYS",
    "ASSETS_MAP_NEAR",
    "REQUEST_SECONDS",
    "COUNTRIES_SECONDS",
    "COUNTRIES_LATEST",
    "EXPENSIVE_AFTER_SECONDS",
    "EXPENSIVE_BODY_BYTES",
    "EXPENSIVE_PAGE_BYTES",
    "EXPENSIVE_WAITING",
    "EXPENSIVE_WAIT_SECONDS",
    "EXPENSIVE_RETRY_SECONDS",
    "LIST_BYTES",
    "RESPONSE_CACHE_BYTES",
    "CACHED_RESPONSE_BYTES",
    "ASSET_WORDS",
    "IDEMPOTENCY_LARGE_BYTES",
    "HISTORY_ROW_BYTES",
    "LAST_USED_SECONDS",
    "ENDED_KEYS_SHOWN",
    "ENDED_CALLERS",
    "ID_LENGTH",
}


class Undescribed(Exception):
    """The code has something that no table describes. The message says where to describe it."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    names = list(head)
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def permissions() -> str:
    rows = []
    for name, opens in PERMISSIONS.items():
        others = sorted(INCLUDES.get(name, frozenset()) - {name})
        every = len(others) == len(PERMISSIONS) - 1
        rows.append([f"`{name}`", opens, "all others" if every else _codes(others)])
    return table(["Permission", "Allows", "Includes"], rows)


def roles() -> str:
    rows = [[f"`{name}`", _codes(sorted(held))] for name, held in ROLES.items()]
    return table(["Role", "Permissions"], rows)


def plans() -> str:
    head = ["Plan", *(item.name.replace("_", " ") for item in fields(Plan))]
    rows = []
    for name, plan in PLANS.items():
        limits = (getattr(plan, item.name) for item in fields(Plan))
        rows.append(
            [f"`{name}`", *("no limit" if each is None else f"{each:,}" for each in limits)]
        )
    return table(head, rows)


def tiers() -> str:
    rows = []
    for tier in TIERS:
        routes = [f"`{route}`" for route, limits in ROUTES.items() if tier in limits]
        if tier in AREAS["/api"]:
            routes.append("all others below `/api`")
        allowed = f"{tier.requests} in {WINDOW_SECONDS} seconds"
        rows.append([f"`{tier.name}`", allowed, ", ".join(routes)])
    exempt = [f"`{route}`" for route, limits in ROUTES.items() if not limits]
    return table(
        ["Tier", "Requests", "Routes"], [*rows, ["`exempt`", "no limit", ", ".join(exempt)]]
    )


def forms() -> str:
    """Forms of pages, how often each may be posted, and what its posts are counted by."""
    kinds = dict.fromkeys(FORMS.values())
    _check_described(
        kinds, _SUBJECTS, "app/policy/rate_limits.py", "_SUBJECTS", "what it counts by"
    )
    grouped: dict[tuple[str, str], list[str]] = {}
    for route, kind in FORMS.items():
        limit = LONG_FORM_POSTS if route in LONG_FORMS else FORM_POSTS
        path = FlaskPlugin.flaskpath2openapi(route)
        grouped.setdefault((str(limit.requests), _SUBJECTS[kind]), []).append(f"`{path}`")
    rows = ([*group, ", ".join(paths)] for group, paths in grouped.items())
    return table([f"Posts in {WINDOW_SECONDS} seconds", "Counted by client and", "Forms"], rows)


def events() -> str:
    """The events in groups of those whose ``data`` has the same fields."""
    parts = []
    for common, group in groupby(EVENTS.items(), lambda item: item[1].fields):
        kinds = dict(group)
        title = " and ".join(f"`{each}`" for each in dict.fromkeys(map(_family, kinds)))
        rows = [[f"`{name}`", kind.meaning, _besides(kind)] for name, kind in kinds.items()]
        note = " Not part of `*`." if all(kind.by_name for kind in kinds.values()) else ""
        parts.append(f"`data` of {title}: {_codes(common)}.{note}")
        parts.append(table(["Event", "When", "Additional fields of `data`"], rows))
    return "\n\n".join(parts)


def _family(name: str) -> str:
    """``project.*`` for an event whose subject has the same fields in all its events; else the
    event's own name."""
    subject = name.partition(".")[0]
    has_subject = [kind for each, kind in EVENTS.items() if each.partition(".")[0] == subject]
    return name if len({kind.fields for kind in has_subject}) > 1 else f"{subject}.*"


def audit_actions() -> str:
    """The actions in a row for each first word."""
    return table(
        ["Of", "Actions"],
        _grouped((f"`{name.partition('.')[0]}`", f"`{name}`") for name in audit.ACTIONS),
    )


def request_limits_table() -> str:
    values = {name: value for name, value in vars(request_limits).items() if name.isupper()}
    described = _REQUEST_LIMITS | dict.fromkeys(_INNER, "")
    _check_described(
        values, described, "app/policy/request_limits.py", "_REQUEST_LIMITS", "what it limits"
    )
    rows = (
        [_value(values[name]), _REQUEST_LIMITS[name]] for name in values if name in _REQUEST_LIMITS
    )
    return table(["Limit", "What it limits"], rows)


def periodic_jobs() -> str:
    rows = (
        [f"`{job.name}`", f"`{job.function.__module__}`", f"{job.every_seconds:,} s"]
        for job in JOBS
        if job.every_seconds
    )
    return table(["Job", "Module", "Every"], rows)


def metrics() -> str:
    rows = (
        [f"`{name}`", kind.type, kind.of, _codes(kind.labels), kind.meaning]
        for name, kind in METRICS.items()
    )
    return table(["Metric", "Kind", "Of", "Labels", "Meaning"], rows)


def settings() -> str:
    """Every setting; a default inside this repository is told from its root."""
    rows = []
    for setting in setting_docs():
        default = setting.default.removeprefix(f"{ROOT}/")
        rows.append([f"`{setting.name}`", f"`{default}`" if default else "unset", setting.purpose])
    return table(["Setting", "Default", "What it is for"], rows)


def operations() -> str:
    """Every route that asks for a credential, by what it needs."""
    return table(
        ["Permission", "Operations"],
        _grouped(
            (_NEEDS.get(needs, f"`{needs}`"), _address(rule)) for rule, needs in _operations()
        ),
    )


def _operations() -> Iterator[tuple[Rule, str]]:
    """Every route that asks for a credential, with what it needs, in the order of the addresses."""
    for rule in _rules():
        view = _application().view_functions[rule.endpoint]
        if needs := getattr(view, "permission", None):
            yield rule, needs


def _grouped(pairs: Iterable[tuple[str, str]]) -> Iterator[list[str]]:
    """A row for each first half, with all the second ones."""
    groups: dict[str, list[str]] = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return ([first, ", ".join(seconds)] for first, seconds in groups.items())


def open_routes() -> str:
    """Every other route, save for static files."""
    rows = []
    for rule in _rules():
        view = _application().view_functions[rule.endpoint]
        is_static = rule.endpoint == "static_files.static_file"
        if not (hasattr(view, "permission") or is_static or _is_page(rule)):
            rows.append([_address(rule), _summary(view)])
    return table(["Route", "What it does"], rows)


def geometry_problems() -> str:
    rows = ([f"`{code}`", meaning] for code, meaning in PROBLEM_CODES.items())
    return table(["Code", "What is wrong"], rows)


def geometry_warnings() -> str:
    rows = ([f"`{code}`", meaning] for code, meaning in WARNING_CODES.items())
    return table(["Code", "What is odd"], rows)


def causes() -> str:
    rows = (
        [status, f"`{code}`", meaning]
        for status, meanings in CAUSES.items()
        for code, meaning in meanings.items()
    )
    return table(["Status", "Code", "Why"], rows)


def deprecations() -> str:
    rows = (
        [
            f"`{each.operation}`" + (f": `{each.name}`" if each.name else ""),
            each.what,
            str(each.since),
            str(each.sunset or "not decided"),
            each.replacement,
        ]
        for each in DEPRECATIONS
    )
    return table(["Deprecated", "What it is", "Since", "Until at least", "Instead"], rows)


def account_export_files() -> str:
    rows = [[f"`{name}`", what] for name, what in account_export.FILES.items()]
    return table(["File", "Content"], rows)


TABLES: Final[dict[str, Callable[[], str]]] = {
    "account-export-files": account_export_files,
    "permissions": permissions,
    "roles": roles,
    "plans": plans,
    "tiers": tiers,
    "forms": forms,
    "events": events,
    "audit-actions": audit_actions,
    "request-limits": request_limits_table,
    "periodic-jobs": periodic_jobs,
    "settings": settings,
    "metrics": metrics,
    "operations": operations,
    "open-routes": open_routes,
    "causes": causes,
    "geometry-problems": geometry_problems,
    "geometry-warnings": geometry_warnings,
    "deprecations": deprecations,
}


def fill(page: str) -> str:
    """The text of a page with its tables as they are now.

    Raises:
        KeyError: a mark names no table.
        Undescribed: something new has no description here.
    """

    def renewed(match: re.Match[str]) -> str:
        name = match[1]
        return f"<!-- generated: {name} -->\n\n{TABLES[name]()}\n\n<!-- end: {name} -->"

    return _MARKED.sub(renewed, page)


def without_tables(page: str) -> str:
    """The text of a page without its generated tables."""
    return _MARKED.sub("", page)


def tables_of(page: str) -> list[str]:
    """The names of the tables that a page has marks for."""
    return _MARKED.findall(page)


@cache
def _application() -> Flask:
    """The application with nothing behind it: its routes are looked at and never called."""
    with tempfile.TemporaryDirectory(prefix="canopy-docs-") as folder:
        return create_app(load_settings({"INSTANCE_PATH": folder}))


def _rules() -> list[Rule]:
    return sorted(_application().url_map.iter_rules(), key=lambda rule: (rule.rule, _method(rule)))


def _is_page(rule: Rule) -> bool:
    blueprint = _application().blueprints.get(rule.endpoint.partition(".")[0])
    return isinstance(blueprint, PageBlueprint)


def _method(rule: Rule) -> str:
    """The methods of a rule, without those that come with others."""
    methods = rule.methods or set()
    own = methods - {"HEAD", "OPTIONS"} or methods
    return ", ".join(sorted(own, key=_METHODS.index))


def _address(rule: Rule) -> str:
    return f"`{_method(rule)} {FlaskPlugin.flaskpath2openapi(rule.rule)}`"


def _summary(view: Callable[..., Any]) -> str:
    """The first paragraph of the docstring of a view, in one line."""
    return " ".join((view.__doc__ or "").strip().partition("\n\n")[0].split())


def _besides(kind: EventKind) -> str:
    actor = [f"`{kind.actor}` {{id, email}}"] if kind.actor else []
    return ", ".join([*(f"`{name}`" for name in kind.extra), *actor])


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _check_described(
    names: Iterable[str], described: Mapping[str, str], place: str, table: str, how: str
) -> None:
    """Raise Undescribed if a name of ``place`` is not in a table of this module, or the reverse."""
    names = set(names)
    if new := sorted(names - described.keys()):
        raise Undescribed(
            f"{', '.join(new)} of {place} has no description: say {how} in {table} of "
            "docs/generate.py."
        )
    if old := sorted(described.keys() - names):
        raise Undescribed(
            f"{', '.join(old)} is not in {place} anymore: take it out of {table} of "
            "docs/generate.py."
        )


def _value(value: Any) -> str:
    if isinstance(value, timedelta):
        return describe_duration(value)
    if isinstance(value, tuple | frozenset):
        value = sorted(value) if isinstance(value, frozenset) else value
        return _codes(value)
    return f"{value:,}" if isinstance(value, int) else f"`{value}`"


def _pages() -> Iterator[Path]:
    yield from sorted([*ROOT.glob("*.md"), *FOLDER.glob("**/*.md")])


def main() -> None:
    """Renew the tables of all pages, and print which pages have changed."""
    for path in _pages():
        text = path.read_text()
        try:
            renewed = fill(text)
        except Undescribed as error:
            sys.exit(str(error))
        if renewed != text:
            path.write_text(renewed)
            print(f"{path.relative_to(ROOT)} is renewed.")  # noqa: T201 - a command


if __name__ == "__main__":
    main()
