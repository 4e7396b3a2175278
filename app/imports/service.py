"""Creating, changing, applying, canceling and undoing imports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.audit.entries import created, record
from app.auth.guard import require_permission
from app.auth.principal import Principal
from app.auth.tenant import find_locked
from app.db.extensions import db
from app.http.errors import Conflict, PreconditionFailed
from app.imports.attribution import acted_as
from app.imports.checks import (
    ENDS_LEFT_OUT,
    check_choices,
    check_kind,
    check_left_out,
    check_new_import,
    check_nothing_written,
)
from app.imports.feature_rows import count_features, count_states, leave_out
from app.imports.features.mapping import mapped_fields
from app.imports.leases import NEW_WORK
from app.imports.listing import may_see, replaceable_import
from app.imports.preview import affordable_layers
from app.imports.questions import required_question
from app.imports.record import not_found
from app.imports.uploads import delete_upload, plain_filename
from app.jobs.after_commit import notify_after_commit
from app.models import Import
from app.policy.imports import GEOMETRY_COLUMNS
from app.usage.counters import counters
from app.usage.history import check_history
from app.values import clock
from app.values.ids import is_id, new_id

_SOURCES: Final = {"session": "dashboard", "operator": "cli"}  # by kind of principal
_TOO_COSTLY: Final = (
    "Reading this file took too much, and would do so again. Import another file: a simpler one, "
    "or parts of it."
)
_NONE_CHOSEN: Final[dict[str, Any]] = {
    "close_lines": False,
    "swap": False,
    "without_boundaries": False,
    "left_out": [],
}
_CHANGED: Final = "The import was changed meanwhile. Review the new preview."


def create_import(
    principal: Principal,
    *,
    kind: str,
    filename: str,
    upload_id: str | None,
    project_id: str | None = None,
    **choices: Any,
) -> Import:
    """Begin an import of an uploaded file. A worker reads it next. Where the account has as many
    unfinished imports as it can, an older one gives way.

    Args:
        upload_id: None: the caller has the file, and reads it.
        choices: any of ``layer``, ``mapping``, ``match``, ``crs``, ``close_lines``, ``swap``,
            ``corners_by``, ``without_boundaries``, ``points_as_plots`` and ``left_out``.

    Raises:
        Forbidden: the credential may not write what is imported.
        ValidationFailed: assets need a project, or the choices do not fit.
        Conflict: the account has too many unfinished imports, and none gives way.
    """
    check_new_import(principal, kind=kind, project_id=project_id, **choices)
    if oldest := replaceable_import(principal):
        _give_way(principal, oldest)
    moment = clock.now()
    made = Import(
        id=new_id("import"),
        account_id=principal.account_id,
        kind=kind,
        project_id=project_id,
        source=_SOURCES.get(principal.kind, "api"),
        user_id=principal.user_id,
        user_email=principal.user_email,
        filename=plain_filename(filename),
        upload_id=upload_id,
        status="reading",
        layers=[],
        questions=[],
        counts={},
        notes=[],
        progress_done=0,
        progress_total=0,
        tries=0,
        created_at=moment,
        updated_at=moment,
        **_columns(_NONE_CHOSEN | choices),
    )
    db.session.add(made)
    notify_after_commit(NEW_WORK)
    record("import.created", made, principal=principal)
    return made


def change_import(principal: Principal, import_id: str, choices: Mapping[str, Any]) -> Import:
    """Read the file again with other choices; ``kind`` and ``project_id`` may be among them. With
    ``left_out`` alone, it is not read again.

    Raises:
        Conflict: unless the import is ready or has failed, has its file, and has written nothing;
            and for a layer that took too much to be read.
        ValidationFailed: the choices do not fit, or a feature to leave out is not in the import.
    """
    found = lock_import(principal, import_id)
    if choices.keys() == {"left_out"}:
        return _leave_out(principal, found, choices)
    choices = _with_kind(principal, found, choices)
    check_choices(choices.get("kind", found.kind), choices)
    check_left_out(found, choices)
    if found.status not in ("ready", "failed"):
        raise _wrong_status(found, "a ready or failed import can be changed")
    check_nothing_written(found)
    if found.upload_id is None:
        if found.costly_layers:
            raise Conflict("too_costly", "file", _TOO_COSTLY)
        raise Conflict(
            "file_deleted", "file", "The file of this import was deleted. Import it again."
        )
    if not choices:
        return found
    if found.costly_layers and choices.get("layer", found.layer) not in affordable_layers(found):
        raise Conflict("too_costly", "layer", f"{_TOO_COSTLY} Or choose another layer.")
    for column, value in _columns(_with_others(found, choices)).items():
        setattr(found, column, value)
    _start(found, "reading")
    found.counts, found.notes, found.questions, found.progress_total = {}, [], [], 0
    record("import.updated", found, principal=principal)
    return found


def _leave_out(principal: Principal, found: Import, choices: Mapping[str, Any]) -> Import:
    """Leave out features of an import that is ready."""
    if found.status != "ready":
        raise _wrong_status(found, "features of a ready import can be left out")
    check_left_out(found, choices)
    numbers = sorted(set(choices["left_out"] or ()))
    leave_out(found.account_id, found.id, numbers, before=found.left_out)
    found.left_out, found.updated_at = numbers, clock.now()
    found.counts = found.counts | count_features(found.account_id, found.id)
    record("import.updated", found, principal=principal)
    return found


def _with_kind(
    principal: Principal, found: Import, choices: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Choices whose ``project_id`` fits their ``kind``. Those for fields that another kind does not
    have, and all where another layer is chosen too, are left out, and guessed again.

    Raises:
        Forbidden: the credential may not write this kind.
        ValidationFailed: assets need a project, and projects have none.
    """
    if not choices.keys() & {"kind", "project_id", "points_as_plots"}:
        return choices
    kind = choices.get("kind", found.kind)
    as_plots = choices.get("points_as_plots", found.points_as_plots if kind == found.kind else None)
    has_project = kind == "assets" or as_plots
    project_id = choices.get("project_id", found.project_id if has_project else None)
    check_kind(principal, kind, project_id, points_as_plots=as_plots)
    changed: dict[str, Any] = {
        **choices,
        "kind": kind,
        "project_id": project_id,
        "points_as_plots": as_plots,
    }
    if kind == found.kind:
        return changed
    fields = (*mapped_fields(kind), *GEOMETRY_COLUMNS, "metadata")
    former = {} if "layer" in choices else found.mapping or {}
    kept = {name: each for name, each in former.items() if name in fields}
    return {"mapping": kept or None, "match": None, "corners_by": None, **changed}


def apply_import(principal: Principal, import_id: str, *, looked_at: str | None = None) -> Import:
    """Have an import written.

    Args:
        looked_at: the ``updated_at`` of the preview that somebody has reviewed.

    Raises:
        PreconditionFailed: the file was read again since, or features were left out.
        Conflict: the import is not ready, or a question is open that must be answered.
        Forbidden: the account's history is full.
    """
    found = lock_import(principal, import_id)
    is_other = looked_at is not None and looked_at != clock.format_value(found.updated_at)
    if is_other and found.status in ("reading", "ready"):
        raise PreconditionFailed(_CHANGED)
    if found.status != "ready":
        raise _wrong_status(found, "an import that is ready can be applied")
    if found.crs is None and found.given_crs is None:
        message = found.message or "The coordinate system of the file is unknown. Set crs."
        raise Conflict("crs_unknown", "crs", message)
    if question := required_question(found.questions):
        raise Conflict("unanswered", question["code"], question["message"])
    check_history(found.account_id, counters(found.account_id).history_bytes)
    _start(found, "applying", principal)
    found.progress_total = sum(found.counts.get(name, 0) for name in ("new", "changed"))
    record("import.applied", found, principal=principal, changes=created(found.counts))
    return found


def cancel_import(principal: Principal, import_id: str) -> Import:
    """Cancel an import that has written nothing. A job deletes its features. Raises Conflict for
    any other."""
    found = lock_import(principal, import_id)
    if found.status not in ("reading", "ready", "failed"):
        raise _wrong_status(found, "an import that is not applied can be canceled")
    check_nothing_written(found)
    return _cancel(principal, found)


def _give_way(principal: Principal, import_id: str) -> None:
    """Cancel an import that nobody applied, or delete the file of one that failed."""
    found = lock_import(principal, import_id)
    if found.status == "ready":
        _cancel(principal, found)
    elif found.status == "failed":
        delete_upload(found)


def _cancel(principal: Principal, found: Import) -> Import:
    delete_upload(found)
    found.status, found.message, found.lease = "canceled", None, None
    found.updated_at = clock.now()
    record("import.canceled", found, principal=principal)
    return found


def undo_import(principal: Principal, import_id: str) -> Import:
    """Have an import undone. Raises Conflict unless it has been applied, at least in part."""
    found = lock_import(principal, import_id)
    if found.status not in ("applied", "failed"):
        raise _wrong_status(found, "an applied import can be undone")
    states = count_states(found.account_id, found.id)
    if not any(states.values()):
        raise Conflict(
            "nothing_written", "status", "This import wrote nothing, so there is nothing to undo."
        )
    _start(found, "undoing", principal)
    found.progress_total = states.get("applied", 0)
    record("import.undone", found, principal=principal)
    return found


def delete_import(found: Import) -> None:
    """Delete an import without features. The projects and assets that it wrote stay."""
    db.session.delete(found)


def lock_import(principal: Principal, import_id: str) -> Import:
    """The import, locked until the end of the transaction. Raises NotFound, Forbidden."""
    known = is_id("import", import_id)
    found = find_locked(principal.account_id, Import, import_id) if known else None
    if found is None or not may_see(principal, found):
        raise not_found()
    require_permission(principal, f"{found.kind}:write")
    if found.points_as_plots:
        require_permission(principal, "assets:write")
    return found


def _with_others(found: Import, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Choices with what they change of the others."""
    others: dict[str, Any] = {}
    if "layer" in choices:
        others = _kept_choices(found, choices["layer"])
    elif "corners_by" in choices:  # areas have fewer columns than their corners
        others = {"mapping": _columns_of_geometry(found) or None, "match": None}
    left_out = choices.get("left_out", found.left_out) or []
    if ENDS_LEFT_OUT & choices.keys():
        left_out = []
    return {**others, **choices, "left_out": left_out}


def _kept_choices(found: Import, layer: str) -> dict[str, Any]:
    """The mapping, as far as another layer has its columns, and the match, unless the column of its
    ids is not among them."""
    columns = next((each["columns"] for each in found.layers if each["name"] == layer), None)
    if columns is None or found.mapping is None:  # the file could not be opened with that layer
        return {}
    fields = {name: each for name, each in found.mapping.items() if name != "metadata"}
    kept: dict[str, Any] = {
        name: each for name, each in fields.items() if each is None or each in columns
    }
    if metadata := found.mapping.get("metadata"):
        kept["metadata"] = [name for name in metadata if name in columns] or None
    elif metadata is not None:
        kept["metadata"] = metadata
    has_lost_ids = found.match == "external_id" and "external_id" not in kept
    return {"mapping": kept or None} | ({"match": None} if has_lost_ids else {})


def _columns_of_geometry(found: Import) -> dict[str, Any]:
    mapping = found.mapping or {}
    return {name: mapping[name] for name in GEOMETRY_COLUMNS if name in mapping}


def _start(found: Import, status: str, principal: Principal | None = None) -> None:
    """Begin a step. ``principal``: in whose name it writes."""
    if principal is not None:
        found.acted_by, found.acted_by_email = principal.user_id, principal.user_email
        found.acted_as = acted_as(principal)
    found.status, found.message = status, None
    found.lease = found.leased_until = None
    found.tries = found.progress_done = 0
    found.updated_at = clock.now()
    notify_after_commit(NEW_WORK)


def _wrong_status(found: Import, only: str) -> Conflict:
    return Conflict("wrong_status", "status", f"Only {only}. This one is {found.status}.")


def _columns(choices: Mapping[str, Any]) -> dict[str, Any]:
    return {"given_crs" if name == "crs" else name: value for name, value in choices.items()}
