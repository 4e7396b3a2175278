"""Who has a step of an import done, for the entries that the job writes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from app.audit.origin import Actor, Via, acting, current_origin
from app.auth.principal import Principal


def acted_as(status: str, principal: Principal) -> dict[str, Any]:
    """What an import keeps of who starts a step.

    Args:
        status: of the import during the step. An earlier version that starts another step leaves
            this as it is, which shows by the status.
    """
    actor, via = current_origin(principal)
    how = {"credential": via.credential, "application": via.application}
    return {"status": status, "actor": actor._asdict(), "via": how}


def acting_for(status: str, import_id: str, kept: Any) -> AbstractContextManager[None]:
    """Set who does the step that an import is at, if its ``acted_as`` is of that step."""
    if kept is None or kept["status"] != status:
        return nullcontext()
    return acting(Actor(**kept["actor"]), Via(**kept["via"], import_id=import_id))
