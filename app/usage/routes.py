"""/v1/account/usage/requests."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.schemas import single_of
from app.auth.principal import Principal
from app.usage.requests import (
    CSV,
    csv_name,
    days_between,
    read_requests,
    requests_csv,
    requests_record,
)
from app.usage.schemas import RequestsQuerySchema, RequestsSchema

bp = ApiBlueprint("usage", "/v1/account", "The requests of your account, and their callers.")


@bp.operation(
    "GET /usage/requests",
    needs="billing:read",
    query=RequestsQuerySchema,
    gives=(200, single_of(RequestsSchema)),
    files={CSV: "day,credential_id,type,name,requests"},
)
def read_usage_requests(principal: Principal, values: dict[str, Any]) -> Response:
    """Read the requests of the account up to now, by day and by credential.

    They add up to `api_requests` of the usage. `format=csv` has a line for each day and credential
    with requests. Requests of unknown credentials share a line without one; so do those of ended
    credentials, except the 200 with most requests.
    """
    days = days_between(values["since"], values["until"])
    requests = read_requests(principal.account_id, days)
    if values["format"] == "csv":
        return envelope.file_response(requests_csv(requests), CSV, csv_name(requests))
    return envelope.record_response(requests_record(requests))
