"""Audit attribution for the steps of imports that run in the worker."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from app.audit.origin import Actor, Via, acting_as, current_origin
from app.auth.principal import Principal


def acted_as(principal: Principal) -> dict[str, Any]:
    """The origin of a step, to be stored with the import."""
    actor, via = current_origin(principal)
    stored_via = {"credential": via.credential, "application": via.application}
    return {"actor": actor._asdict(), "via": stored_via}


def acting_for(import_id: str, origin: Any) -> AbstractContextManager[None]:
    """Use a stored origin for audit entries."""
    return acting_as(Actor(**origin["actor"]), Via(**origin["via"], import_id=import_id))
