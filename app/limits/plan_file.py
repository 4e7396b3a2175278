"""The plans in force: the policy's, changed and extended by the operator's file."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from typing import Final

from flask import Flask, current_app

from app.policy.plans import BASE_PLAN, Plan
from app.settings.current import current_settings
from app.settings.plans import plans_of
from app.values.command_name import canopy_command
from config import Settings

log = logging.getLogger(__name__)

_EXTENSION: Final = "canopy_plans"


def init_app(app: Flask, settings: Settings) -> None:
    """Give ``app`` its plans. Raises ValueError, as ``load_settings`` would have."""
    app.extensions[_EXTENSION] = plans_of(settings.plans_file, settings.default_plan)


def plans() -> Mapping[str, Plan]:
    """The application's plans by name."""
    in_force: Mapping[str, Plan] = current_app.extensions[_EXTENSION]
    return in_force


def default_plan() -> str:
    """The name of the plan of new accounts."""
    return current_settings().default_plan


def plan_of(name: str) -> Plan:
    """The plan with this name. One that was removed from the file has the limits of ``BASE_PLAN``
    until the account gets another plan."""
    in_force = plans()
    if name not in in_force:
        _log_once(name)
        name = BASE_PLAN
    return in_force[name]


@cache
def _log_once(name: str) -> None:
    log.warning(
        "plan %r does not exist, so its accounts get the limits of %s. "
        "Put it back into PLANS_FILE, "
        f"or run: {canopy_command()} account update ACCOUNT --plan PLAN",
        name,
        BASE_PLAN,
    )
