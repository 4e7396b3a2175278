"""Creating, changing, applying, canceling and undoing imports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.audit.entries import changes_of_new, write_entry
from app.auth.guard import require_permission
from app.auth.principal import Principal
from app.auth.tenant import find_locked
from app.db.extensions import db
from app.http.errors import Conflict, PreconditionFailed
from app.imports.attribution import acted_as
from app.imports.checks import (
    RENUMBERING_CHOICES,
    check_choices,
    check_features,
    check_kind,
    check_new_import,
    check_nothing_written,
    points_become_assets,
)
from app.imports.feature_rows import count_features, count_states, leave_out
from app.imports.features.mapping import mapped_fields
from app.imports.leases import NEW_WORK
from app.imports.listing import may_see, replaceable_import
from app.imports.preview import affordable_layers
from app.imports.questions import required_question
from app.imports.record import not_found
from app.imports.uploads import delete_upload, upload_filename
from app.jobs.after_commit import notify_after_commit
from app.models import Account, Import
from app.policy.imports import GEOMETRY_COLUMNS
from app.usage.counters import read_counters
from app.usage.history import check_history
from app.values import clock
from app.values.ids import is_id, new_id

_SOURCES: Final = {"session": "dashboard", "operator": "cli"}  # by kind of principal
_TOO_COSTLY: Final = (
    "This file takes too much time or memory to read. Import a simpler file, or parts of it."
)
_GIVEN: Final = {"crs": "given_crs", "encoding": "given_encoding"}  # columns of choices
_CHANGED: Final = "The import has changed since. Review the new preview."


def create_import(
    principal: Principal,
    *,
    kind: str,
    filename: str,
    upload_id: str | None,
    project_id: str | None = None,
    **choices: Any,
) -> Import:
    """Create an import of an uploaded file, which a worker reads next. An older import gives way if
    the account has too many unfinished ones.

    Args:
        upload_id: None: the caller reads the file itself.
        choices: any of ``layer``, ``mapping``, ``match``, ``crs``, ``encoding``, ``close_lines``,
            ``swap``, ``corners_by``, ``without_boundaries``, ``points_as_plots``, ``points``,
            ``left_out`` and ``names``.

    Raises:
        Forbidden: the credential may not write this kind.
        ValidationFailed: assets need a project, or choices do not go together.
        Conflict: too many unfinished imports, and none gives way.
    """
    check_new_import(principal, kind=kind, project_id=project_id, **choices)
    if choices.get("points"):
        choices["points_as_plots"] = True
    # Others that create one wait; changes of other tables' rows do not.
    db.session.get_one(Account, principal.account_id, with_for_update={"key_share": True})
    if oldest := replaceable_import(principal):
        _give_way(principal, oldest)
    moment = clock.now()
    import_ = Import(
        id=new_id("import"),
        account_id=principal.account_id,
        kind=kind,
        project_id=project_id,
        source=_SOURCES.get(principal.kind, "api"),
        user_id=principal.user_id,
        user_email=principal.user_email,
        filename=upload_filename(filename),
        upload_id=upload_id,
        status="reading",
        created_at=moment,
        updated_at=moment,
        **_choice_columns(choices),
    )
    db.session.add(import_)
    db.session.flush()  # sets the defaults of columns
    notify_after_commit(NEW_WORK)
    write_entry("import.created", import_, principal=principal)
    return import_


def change_import(principal: Principal, import_id: str, choices: Mapping[str, Any]) -> Import:
    """Read the file again with other choices, also of ``kind`` and ``project_id``. With
    ``left_out`` alone, it is not read again.

    Raises:
        Conflict: the import is neither ready nor failed, has written features, or has no file; or
            the layer is too costly to read.
        ValidationFailed: choices do not go together, or the import has no such feature.
    """
    import_ = lock_import(principal, import_id)
    if choices.keys() == {"left_out"}:
        return _leave_out(principal, import_, choices)
    choices = _with_import_kind(principal, import_, choices)
    check_choices(choices.get("kind", import_.kind), choices)
    check_features(import_, choices)
    if import_.status not in ("ready", "failed"):
        raise _wrong_status(import_, "a ready or failed import can be changed")
    check_nothing_written(import_)
    if import_.upload_id is None:
        if import_.costly_layers:
            raise Conflict("too_costly", "file", _TOO_COSTLY)
        raise Conflict(
            "file_deleted", "file", "The file of this import was deleted. Import it again."
        )
    if not choices:
        return import_
    layer = choices.get("layer", import_.layer)
    if import_.costly_layers and layer not in affordable_layers(import_):
        raise Conflict("too_costly", "layer", f"{_TOO_COSTLY} Or choose another layer.")
    for column, value in _choice_columns(_with_dependent_choices(import_, choices)).items():
        setattr(import_, column, value)
    _start_step(import_, "reading")
    import_.counts, import_.notes, import_.questions, import_.progress_total = {}, [], [], 0
    write_entry("import.updated", import_, principal=principal)
    return import_


def _leave_out(principal: Principal, import_: Import, choices: Mapping[str, Any]) -> Import:
    """Leave out features of an import that is ready."""
    if import_.status != "ready":
        raise _wrong_status(import_, "features of a ready import can be left out")
    check_features(import_, choices)
    numbers = sorted(set(choices["left_out"] or ()))
    leave_out(import_.account_id, import_.id, numbers, before=import_.left_out)
    import_.left_out, import_.updated_at = numbers, clock.now()
    import_.counts = import_.counts | count_features(import_.account_id, import_.id)
    write_entry("import.updated", import_, principal=principal)
    return import_


def _with_import_kind(
    principal: Principal, import_: Import, choices: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Complete choices of ``kind``, ``project_id`` or ``points_as_plots``.

    Another kind keeps the columns of fields that it has too. With another layer, all are guessed
    again.

    Raises:
        Forbidden: the credential may not write this kind.
        ValidationFailed: assets need a project, and projects have none.
    """
    if not choices.keys() & {"kind", "project_id", "points_as_plots", "points"}:
        return choices
    kind = choices.get("kind", import_.kind)
    former_as_plots = import_.points_as_plots if kind == import_.kind else None
    as_plots = points_become_assets(choices, former_as_plots)
    points = choices.get("points", import_.points if as_plots == former_as_plots else None)
    has_project = kind == "assets" or as_plots
    project_id = choices.get("project_id", import_.project_id if has_project else None)
    check_kind(principal, kind, project_id, points_as_plots=as_plots)
    changed: dict[str, Any] = {
        **choices,
        "kind": kind,
        "project_id": project_id,
        "points_as_plots": as_plots,
        "points": points if as_plots else None,
    }
    if kind == import_.kind:
        return changed
    fields = (*mapped_fields(kind), *GEOMETRY_COLUMNS, "metadata")
    former = {} if "layer" in choices else import_.mapping or {}
    mapping = {name: column for name, column in former.items() if name in fields}
    return {"mapping": mapping or None, "match": None, "corners_by": None, **changed}


def apply_import(principal: Principal, import_id: str, *, reviewed: str | None = None) -> Import:
    """Start writing an import.

    Args:
        reviewed: the ``updated_at`` of the preview that a person has seen.

    Raises:
        PreconditionFailed: the preview has changed since.
        Conflict: the import is not ready, or a required question is not answered.
        Forbidden: the account's history is full.
    """
    import_ = lock_import(principal, import_id)
    is_outdated = reviewed is not None and reviewed != clock.format_value(import_.updated_at)
    if is_outdated and import_.status in ("reading", "ready"):
        raise PreconditionFailed(_CHANGED)
    if import_.status != "ready":
        raise _wrong_status(import_, "an import that is ready can be applied")
    if import_.crs is None and import_.given_crs is None:
        message = import_.message or "The coordinate system of the file is unknown. Set crs."
        raise Conflict("crs_unknown", "crs", message)
    if question := required_question(import_.questions):
        raise Conflict("unanswered", question["code"], question["message"])
    check_history(import_.account_id, read_counters(import_.account_id).history_bytes)
    _start_step(import_, "applying", principal)
    import_.progress_total = sum(import_.counts.get(name, 0) for name in ("new", "changed"))
    write_entry(
        "import.applied", import_, principal=principal, changes=changes_of_new(import_.counts)
    )
    return import_


def cancel_import(principal: Principal, import_id: str) -> Import:
    """Cancel an import; a job deletes its features. Raises Conflict if it has written features."""
    import_ = lock_import(principal, import_id)
    if import_.status not in ("reading", "ready", "failed"):
        raise _wrong_status(import_, "an import that is not applied can be canceled")
    check_nothing_written(import_)
    return _cancel_import(principal, import_)


def _give_way(principal: Principal, import_id: str) -> None:
    """Cancel an import that is ready, or delete the file of one that failed."""
    import_ = lock_import(principal, import_id)
    if import_.status == "ready":
        _cancel_import(principal, import_)
    elif import_.status == "failed":
        delete_upload(import_)


def _cancel_import(principal: Principal, import_: Import) -> Import:
    delete_upload(import_)
    import_.status, import_.message, import_.lease = "canceled", None, None
    import_.updated_at = clock.now()
    write_entry("import.canceled", import_, principal=principal)
    return import_


def undo_import(principal: Principal, import_id: str) -> Import:
    """Start undoing an import. Raises Conflict if it has written nothing."""
    import_ = lock_import(principal, import_id)
    if import_.status not in ("applied", "failed"):
        raise _wrong_status(import_, "an applied import can be undone")
    states = count_states(import_.account_id, import_.id)
    if not any(states.values()):
        raise Conflict(
            "nothing_written", "status", "This import wrote nothing, so there is nothing to undo."
        )
    _start_step(import_, "undoing", principal)
    import_.progress_total = states.get("applied", 0)
    write_entry("import.undone", import_, principal=principal)
    return import_


def delete_import(import_: Import) -> None:
    """Delete an import without features. The projects and assets that it wrote stay."""
    db.session.delete(import_)


def lock_import(principal: Principal, import_id: str) -> Import:
    """Lock an import until the end of the transaction. Raises NotFound, Forbidden."""
    is_known = is_id("import", import_id)
    import_ = find_locked(principal.account_id, Import, import_id) if is_known else None
    if import_ is None or not may_see(principal, import_):
        raise not_found()
    require_permission(principal, f"{import_.kind}:write")
    if import_.points_as_plots:
        require_permission(principal, "assets:write")
    return import_


def _with_dependent_choices(import_: Import, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Add the other choices that these change."""
    others: dict[str, Any] = {}
    if "corners_by" in choices:  # areas have fewer columns than their corners
        former = (import_.mapping or {}).items()
        mapping = {name: column for name, column in former if name in GEOMETRY_COLUMNS}
        others = {"mapping": mapping or None, "match": None}
    left_out, names = choices.get("left_out", import_.left_out), choices.get("names", import_.names)
    if RENUMBERING_CHOICES & choices.keys():
        left_out = names = None
    return {**others, **choices, "left_out": left_out or [], "names": names or None}


def _start_step(import_: Import, status: str, principal: Principal | None = None) -> None:
    """Begin a step. ``principal``: who writes or undoes."""
    if principal is not None:
        import_.acted_by, import_.acted_by_email = principal.user_id, principal.user_email
        import_.acted_as = acted_as(principal)
    import_.status, import_.message = status, None
    import_.lease = import_.leased_until = None
    import_.tries = import_.progress_done = 0
    import_.updated_at = clock.now()
    notify_after_commit(NEW_WORK)


def _wrong_status(import_: Import, rule: str) -> Conflict:
    return Conflict("wrong_status", "status", f"Only {rule}. This one is {import_.status}.")


def _choice_columns(choices: Mapping[str, Any]) -> dict[str, Any]:
    return {_GIVEN.get(name, name): value for name, value in choices.items()}
