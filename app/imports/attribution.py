"""Audit attribution for the steps of imports that run in the worker."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from app.audit.origin import Actor, Via, acting, current_origin
from app.auth.principal import Principal


def acted_as(status: str, principal: Principal) -> dict[str, Any]:
    """The origin of a step, to be stored with the import.

    Args:
        status: the status of the import during the step. An earlier version that starts another
            step leaves the stored origin as it is, which shows by the status.
    """
    actor, via = current_origin(principal)
    how = {"credential": via.credential, "application": via.application}
    return {"status": status, "actor": actor._asdict(), "via": how}


def acting_for(status: str, import_id: str, kept: Any) -> AbstractContextManager[None]:
    """Set the stored origin for audit entries, if it belongs to the step that the import is at."""
    if kept is None or kept["status"] != status:
        return nullcontext()
    return acting(Actor(**kept["actor"]), Via(**kept["via"], import_id=import_id))
