"""Publishing the change of a project: an event for programs, an entry in the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.audit.entries import Changes, record
from app.audit.targets import Target
from app.auth.principal import Principal
from app.events.outbox import EventActor, emit


def publish(
    event_type: str,
    project: Mapping[str, Any],
    principal: Principal,
    changes: Changes | None = None,
) -> None:
    """Write an event, and an entry of the same name.

    Args:
        project: its record.
        changes: of the entry.
    """
    emit(event_type, project, EventActor.of(principal))
    _record(event_type, project, principal, changes)


def publish_update(
    project: Mapping[str, Any],
    principal: Principal,
    changes: Mapping[str, Any],
    boundary: Mapping[str, Any] | None,
) -> None:
    """Write the event of changed fields, and the entry: of a changed boundary, if it is one.

    Args:
        changes: as the event has them.
        boundary: how the entry describes the changed boundary
            (``app.projects.boundary_history.recording``).
    """
    emit("project.updated", project, EventActor.of(principal), changes=changes)
    if boundary is None:
        _record("project.updated", project, principal, changes)
    else:
        _record("project.boundary.updated", project, principal, {**changes, "geometry": boundary})


def _record(
    action: str, project: Mapping[str, Any], principal: Principal, changes: Changes | None
) -> None:
    target = Target("project", project["id"], project["name"])
    record(action, target, account_id=principal.account_id, changes=changes, principal=principal)
