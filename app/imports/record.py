"""The records of imports and their features, as the API shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from app.auth.principal import Principal
from app.http.errors import NotFound
from app.limits.plan_file import plan_of
from app.models import Import
from app.policy.imports import VERDICTS
from app.usage.counters import read_counters
from app.values.clock import format_value
from app.values.records import hectares
from app.values.text import pluralize

_AS_STORED: Final = (
    "id", "kind", "project_id", "filename", "format", "encoding", "status", "message", "layer",
    "match", "close_lines", "swap", "corners_by", "without_boundaries", "points_as_plots",
    "letters", "zone_letter", "points", "notes",
)  # fmt: skip
SUMMARY_COLUMNS: Final = (
    *(*_AS_STORED, "crs", "given_crs", "counts", "progress_done", "progress_total"),
    *("created_at", "updated_at", "user_id", "user_email"),
)
COLUMNS: Final = (
    *SUMMARY_COLUMNS, "layers", "mapping", "questions", "left_out", "names", "upload_id",
)  # fmt: skip
_OF_FEATURE: Final = (  # as stored
    "number", "name", "external_id", "verdict", "left_out", "state", "changes", "metadata_changes",
    "problems",
)  # fmt: skip
FEATURE_COLUMNS: Final = (
    *(*_OF_FEATURE, "target_id", "area_m2", "previous_area_m2", "outside", "overlaps", "is_plot"),
    "is_namesake",
)
COUNTS: Final = (
    *VERDICTS, "new_plots", "left_out", "without_boundary", "overlapping", "overlapping_projects",
    "undone", "kept",
)  # fmt: skip
_NAMED_COUNTRIES: Final = 5
# Of layers: other members of the record say the same.
_HIDDEN: Final = ("found", "suggestions", "encoding", "is_guessed")
_NO_HECTARES: Final = {"before": 0.0, "after": 0.0, "overlapping": 0.0}


def import_record(row: Import | Any, principal: Principal | None = None) -> dict[str, Any]:
    """The record of an import, from the model or from a row of ``COLUMNS``; for a principal, with
    the hectares of the account and the limit of its plan."""
    layer: dict[str, Any] = next((each for each in row.layers if each["name"] == row.layer), {})
    layers = [{name: each[name] for name in each if name not in _HIDDEN} for each in row.layers]
    record = import_summary(row)
    if principal is not None and row.kind == "projects":
        areas, used = record["hectares"], read_counters(principal.account_id).area_m2
        change = areas["after"] - areas["before"] if row.status == "ready" else 0
        account = {"account": used / 10_000 + change, "limit": plan_of(principal.plan).hectares}
        record["hectares"] = areas | account
    return record | {
        "layers": layers,
        "mapping": row.mapping and {**layer.get("found", {}), **row.mapping},
        "questions": row.questions if row.status == "ready" else [],
        "suggestions": layer.get("suggestions", []) if row.status == "ready" else [],
        "left_out": row.left_out,
        "names": row.names or {},
    }


def import_summary(row: Import | Any) -> dict[str, Any]:
    """The record of an import in a list, from a row of ``SUMMARY_COLUMNS``: without layers and
    mapping, which may be long."""
    counts = dict(row.counts)
    hectares = _NO_HECTARES | counts.pop("hectares", {})
    if "without_boundary" in counts:
        counts["without_boundary"] -= counts["left_out_without_place"]
    return {
        **{name: getattr(row, name) for name in _AS_STORED},
        "crs": row.given_crs or row.crs,
        "counts": {name: counts.get(name, 0) for name in COUNTS},
        "hectares": hectares,
        "bbox": counts.get("bbox"),
        "countries": counts.get("countries", []),
        "faults": counts.get("faults", []),
        "warnings": counts.get("warnings", []),
        "progress": {"done": row.progress_done, "total": row.progress_total},
        "created_at": format_value(row.created_at),
        "updated_at": format_value(row.updated_at),
        "created_by": {"id": row.user_id, "email": row.user_email},
    }


def overlap_words(record: Mapping[str, Any], area: Callable[[float], str]) -> list[str]:
    """Phrases such as ``2 overlap with existing projects by 301.56 ha``.

    Args:
        area: formats hectares.
    """
    counts, words = record["counts"], []
    with_projects = counts["overlapping_projects"]
    if with_projects:
        common = area(record["hectares"]["overlapping"])
        number = pluralize(with_projects, "overlaps", "overlap")
        words.append(f"{number} with existing projects by {common}")
    if others := counts["overlapping"] - with_projects:
        words.append(f"{pluralize(others, 'overlaps', 'overlap')} with others of the file")
    return words


def country_words(record: Mapping[str, Any]) -> str | None:
    """Where the features of an import lie: ``In Romania (23) and Serbia (2)``; None: nowhere."""
    countries = record["countries"]
    if len(countries) < 2:
        return f"In {countries[0]['name']}" if countries else None
    names = [f"{country['name']} ({country['features']:,})" for country in countries]
    if len(names) > _NAMED_COUNTRIES:
        others = len(names) - _NAMED_COUNTRIES + 1
        names[_NAMED_COUNTRIES - 1 :] = [f"{others:,} other countries"]
    return f"In {', '.join(names[:-1])} and {names[-1]}"


def feature_record(kind: str, row: Any) -> dict[str, Any]:
    """The record of a feature of an import of this kind, from a row of ``FEATURE_COLUMNS``."""
    kind = "assets" if row.is_plot else kind
    kind_fields = (
        {"overlaps": row.overlaps or []} if kind == "projects" else {"outside": row.outside}
    )
    return {
        **{name: getattr(row, name) for name in _OF_FEATURE},
        "kind": kind,
        "project_id" if kind == "projects" else "asset_id": row.target_id,
        **kind_fields,
        "area_hectares": hectares(row.area_m2),
        "previous_area_hectares": hectares(row.previous_area_m2),
    }


def not_found() -> NotFound:
    """The error for the id of no import of the account."""
    return NotFound("This import does not exist.")
