"""/v1/account."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.account import lookup, service
from app.account.schemas import AccountSchema, AccountUpdateSchema, UsageSchema
from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.schemas import single_of
from app.auth.principal import Principal
from app.http.etags import IfMatch
from app.policy.permissions import PROFILE
from app.projects.summaries import summarize_projects
from app.usage.statistics import usage_statistics

bp = ApiBlueprint("account", "/v1/account", "Your account: its name, plan and usage.")


@bp.operation("GET", needs=PROFILE, of_some_projects=True, gives=(200, single_of(AccountSchema)))
def read_account(principal: Principal) -> Response:
    """Read the account.

    For a credential that is limited to some projects, `usage` counts only these.
    """
    return envelope.record_response(_account_seen_by(principal))


@bp.operation(
    "PUT",
    needs="admin",
    takes=AccountUpdateSchema,
    gives=(200, single_of(AccountSchema)),
    conditional=True,
)
def update_account(principal: Principal, values: dict[str, Any], if_match: IfMatch) -> Response:
    """Rename the account."""
    return envelope.record_response(service.rename_account(principal, values, if_match))


@bp.operation("GET /usage", needs="billing:read", gives=(200, single_of(UsageSchema)))
def read_usage(principal: Principal) -> Response:
    """Read the account's usage."""
    return envelope.record_response(usage_statistics(principal.account_id, principal.plan))


def _account_seen_by(principal: Principal) -> dict[str, Any]:
    """The record of the principal's account, with the usage of the projects that it sees."""
    record = lookup.read_account(principal.account_id)
    if principal.project_ids is not None:
        totals = summarize_projects(principal)
        counted = [totals[status]["hectares"] for status in totals if status != "archived"]
        record["usage"]["hectares"] = sum(counted)
        record["usage"]["projects"] = sum(total["projects"] for total in totals.values())
    return record
