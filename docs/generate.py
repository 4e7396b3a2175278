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
from app.policy import account_export, audit, bounds
from app.policy.conflicts import CONFLICTS
from app.policy.deprecations import DEPRECATIONS
from app.policy.events import EVENTS, EventKind
from app.policy.limits import (
    AREAS,
    FORM_POSTS,
    FORMS,
    LONG_FORM_POSTS,
    LONG_FORMS,
    ROUTES,
    TIERS,
    WINDOW_SECONDS,
)
from app.policy.metrics import METRICS
from app.policy.permissions import INCLUDES, PERMISSIONS, PROFILE, ROLES, SCOPES
from app.policy.plans import PLANS, Plan
from app.site.pages import PageBlueprint
from app.values.clock import describe_duration
from config import ROOT, load_settings, setting_docs
from docs.access import cell

FOLDER: Final = Path(__file__).parent
COMMAND: Final = ".venv/bin/python -m docs.generate"

# What is not the name of a permission.
_NEEDS: Final = {
    ANY_CREDENTIAL: "any credential",
    PROFILE: "any credential; an OAuth token `profile`",
}

# What a form can be about (app.policy.limits).
_SUBJECTS: Final = {
    "email": "the email address entered",
    "token": "the token in the URL",
    "person": "the signed-in person",
    "sign-in": "the pending sign-in",
    "attempt": "the pending single sign-on",
}

_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_MARKED = re.compile(r"<!-- generated: ([\w-]+) -->\n.*?<!-- end: \1 -->", re.DOTALL)

# What each constant of app.policy.bounds bounds.
_BOUNDS: Final = {
    "ID_LENGTH": "characters of an `id` in a filter, or that the chat model sends",
    "NAME_LENGTH": "characters of a name",
    "SLUG_LENGTH": "characters of a slug",
    "DESCRIPTION_LENGTH": "characters of a description",
    "EXTERNAL_ID_LENGTH": "characters of an `external_id`",
    "SEARCH_LENGTH": "characters of `search`",
    "GEOMETRY_POSITIONS": "positions of one boundary, including the closing ones",
    "VALIDATION_SECONDS": "processor seconds that validating one boundary may take at worst",
    "OVERLAY_SECONDS": "processor seconds that comparing two boundaries may take",
    "OVERLAY_LOCKED_SECONDS": "processor seconds that comparing two boundaries may take while "
    "other changes wait",
    "OVERLAP_CANDIDATES": "projects with which a boundary is compared to find overlaps",
    "OVERLAPS_SECONDS": "processor seconds of a request after which nothing more is compared",
    "OVERLAPS_SHOWN": "overlaps in a response, the largest ones",
    "OVERLAP_M2": "m² of an overlap that counts, at least",
    "OVERLAP_METERS": "m that an overlap that counts is wide on the average, at least",
    "MAP_ZOOM": "largest `zoom` of a map",
    "MAP_LEVELS": "zooms for which boundaries are simplified beforehand",
    "MAP_LEAST_PIXELS": "pixels that a boundary has at least; what is smaller is a point",
    "MAP_SHORT_BYTES": "bytes of a boundary that is shown whole at the largest of these zooms",
    "MAP_FEATURES": "features of a map, those of the largest projects",
    "MAP_BYTES": "bytes of shapes in a map; other projects are points",
    "MAP_WAITING_BYTES": "bytes of boundaries that are simplified while a map is made",
    "MAP_NEAR": "projects in a box that are sorted by area; of more, the largest are looked for",
    "MAP_SEARCHED": "projects among which they are looked for, the largest of the account",
    "ASSETS_MAP_FEATURES": "assets on the map of the page of assets",
    "ASSETS_MAP_NEAR": "assets in a box that are found by its index; of more, the latest are "
    "looked for",
    "BODY_VALUES": "values in a body",
    "BODY_CONTAINERS": "arrays and objects in a body",
    "BODY_STRINGS": "strings and names in a body",
    "BODY_ESCAPES": "escaped characters in a body",
    "REQUEST_SECONDS": "processor seconds after which a request is ended, or a piece of a stream; "
    "in an export, a batch of records",
    "COUNTRIES_SECONDS": "processor seconds that comparing a boundary with the countries may take",
    "COUNTRIES_LATEST": "processor seconds of a request after which its boundary is no longer "
    "compared with the countries",
    "EXPENSIVE_AFTER_SECONDS": "processor seconds after which any request counts as expensive",
    "EXPENSIVE_BODY_BYTES": "bytes above which a request counts as expensive",
    "EXPENSIVE_PAGE_BYTES": "bytes of boundaries above which a page of a list does so too",
    "EXPENSIVE_WAITING": "expensive requests that wait while a web process works on another one",
    "EXPENSIVE_WAIT_SECONDS": "seconds that each of them waits at most",
    "EXPENSIVE_RETRY_SECONDS": "`Retry-After` of those that did not get their turn",
    "METADATA_BYTES": "bytes of `metadata` as JSON",
    "METADATA_FILTERS": "keys of the metadata that a list is filtered by at once",
    "METADATA_KEYS": "top-level keys of `metadata`",
    "METADATA_LEVELS": "levels of objects and arrays in each other in `metadata`",
    "PER_PAGE_DEFAULT": "records per page without `per_page`",
    "PER_PAGE_MAX": "largest `per_page`",
    "PAGE_MAX": "largest `page`",
    "PROJECT_STATUSES": "values of a project's `status`",
    "BOUNDARY_SOURCES": "values of a boundary's `source`",
    "PROJECT_SORTS": "values of `sort` for projects",
    "ASSET_SORTS": "values of `sort` for assets",
    "LIST_IDS": "`ids` in one request for a list",
    "LIST_BYTES": "bytes of one page of a list",
    "KEPT_BYTES": "bytes of maps and pages of features that each web process keeps to send again",
    "KEPT_RESPONSE_BYTES": "bytes of the largest map or page that is kept",
    "ACCOUNT_TYPES": "values of an account's `type`",
    "VOCABULARY_LENGTH": "characters of an asset's `type` and `status`",
    "VOCABULARY_PATTERN": "pattern of an asset's `type` and `status`",
    "ASSET_TYPES": "documented values of an asset's `type`; other values are accepted too",
    "ASSET_STATUSES": "documented values of an asset's `status`; other values are accepted too",
    "ASSET_WORDS": "other words of both that the pages of assets offer",
    "RESERVED_SLUGS": "reserved slugs: whatever has such a name gets one that ends in `-2`",
    "IDEMPOTENCY_KEY_LENGTH": "characters of an `Idempotency-Key`",
    "IDEMPOTENCY_HOURS": "hours that the response to an `Idempotency-Key` is stored",
    "IDEMPOTENCY_LARGE_BYTES": "bytes of such a response above which it counts in the next bound",
    "IDEMPOTENCY_BYTES": "bytes of such responses of an account that are stored in these hours",
    "EVENT_DAYS": "days that an event is kept",
    "HISTORY_ROW_BYTES": "bytes that an event or an entry of the audit log counts besides its "
    "text; a delivery counts as two",
    "REQUEST_DAYS": "days that the number of a credential's requests is kept",
    "REQUEST_DAYS_READ": "days in one response of `GET /v1/account/usage/requests`",
    "REQUEST_DAYS_DEFAULT": "days in a response of `GET /v1/account/usage/requests` without "
    "`since`",
    "LAST_USED_SECONDS": "shortest time between two updates of a credential's last use, in seconds",
    "INVITATIONS_A_DAY": "invitations that an account can send in 24 hours: as many as its plan "
    "has seats, but no fewer than the first number and no more than the second",
    "PAGE_KEYS": "API keys of an account, or service tokens, that are not over; its pages make no "
    "more than these",
    "ENDED_KEYS_SHOWN": "API keys, or service tokens, that are over and shown on their pages: the "
    "last to end",
    "ENDED_CALLERS": "keys, tokens and applications without access any more whose requests of a "
    "period are told apart: those with most",
    "PROJECTS_OF_CREDENTIAL": "projects that one credential may be limited to",
    "KEY_DAYS": "days after which a new API key ends, unless another end is chosen",
    "EXPIRY_MAILED_DAYS": "days before a key expires in which whoever made it gets an email",
    "ALLOWLIST_ENTRIES": "IP addresses and networks in the allowlist of a service token",
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


def scopes() -> str:
    return table(["Scope", "Allows"], ([f"`{name}`", opens] for name, opens in SCOPES.items()))


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
    _check_described(kinds, _SUBJECTS, "app/policy/limits.py", "_SUBJECTS", "what it counts by")
    rows = []
    for route, kind in FORMS.items():
        limit = LONG_FORM_POSTS if route in LONG_FORMS else FORM_POSTS
        path = FlaskPlugin.flaskpath2openapi(route)
        rows.append([f"`POST {path}`", str(limit.requests), _SUBJECTS[kind]])
    return table(["Form", f"Posts in {WINDOW_SECONDS} seconds", "Counted by client and"], rows)


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
    rows = ([f"`{name}`", words.format("…")] for name, words in audit.ACTIONS.items())
    return table(["Action", "Somebody …"], rows)


def limits() -> str:
    values = {name: value for name, value in vars(bounds).items() if name.isupper()}
    _check_described(values, _BOUNDS, "app/policy/bounds.py", "_BOUNDS", "what it bounds")
    rows = ([f"`{name}`", _value(value), _BOUNDS[name]] for name, value in values.items())
    return table(["Bound", "Value", "Meaning"], rows)


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
    """Every route of /v1 that asks for a credential, in the order of the addresses."""
    rows = []
    for rule in _rules():
        view = _application().view_functions[rule.endpoint]
        if needs := getattr(view, "permission", None):
            shown = _NEEDS.get(needs, f"`{needs}`")
            rows.append([_address(rule), shown, _summary(view)])
    return table(["Operation", "Permission", "What it does"], rows)


def access() -> str:
    """Roles, credentials and the operations that they open."""
    rows = []
    for rule in _rules():
        view = _application().view_functions[rule.endpoint]
        if needs := getattr(view, "permission", None):
            cells = (", ".join(cell(rule.rule, needs, role)) or "–" for role in ROLES)
            rows.append([_address(rule), *cells])
    return table(["Operation", *(f"`{role}`" for role in ROLES)], rows)


def pages() -> str:
    """Every page for people, and who may see it."""
    rows = []
    for rule in _rules():
        view = _application().view_functions[rule.endpoint]
        if _is_page(rule):
            rows.append([_address(rule), _audience(view), _summary(view)])
    return table(["Page", "For", "What it does"], rows)


def _audience(view: Any) -> str:
    """Who may see a page."""
    if permission := getattr(view, "role_permission", None):
        return f"members with `{permission}`"
    if hasattr(view, "for_operators"):
        return "operators"
    return "signed-in people" if hasattr(view, "requires_sign_in") else "everyone"


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


def conflicts() -> str:
    rows = ([f"`{code}`", meaning] for code, meaning in CONFLICTS.items())
    return table(["Code", "What stands against it"], rows)


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
    "scopes": scopes,
    "plans": plans,
    "tiers": tiers,
    "forms": forms,
    "events": events,
    "audit-actions": audit_actions,
    "bounds": limits,
    "periodic-jobs": periodic_jobs,
    "settings": settings,
    "metrics": metrics,
    "operations": operations,
    "access": access,
    "pages": pages,
    "open-routes": open_routes,
    "conflicts": conflicts,
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
