"""/v1/eudr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flask import Response, current_app

from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.expensive import client_check, expensive_work
from app.api.schemas import single_of
from app.auth.principal import Principal
from app.eudr.plots import pop_options
from app.eudr.records import PlotReader, check_points
from app.eudr.report import make_report, report_record
from app.eudr.schemas import EudrReportQuerySchema, EudrReportSchema

bp = ApiBlueprint("eudr", "/v1", "Plots for the EU Deforestation Regulation.")


@bp.operation(
    "GET /eudr",
    needs="projects:read",
    of_some_projects=True,
    query=EudrReportQuerySchema,
    gives=(200, single_of(EudrReportSchema)),
)
def report_eudr(principal: Principal, values: dict[str, Any]) -> Response:
    """Check the plots for the EUDR.

    The response says how many plots `GET /v1/exports/projects?format=eudr` would write with the
    same parameters, and lists their problems and warnings. `points` also needs `assets:read`.
    """
    check_points(principal, values)
    options = pop_options(values)
    values["within"] = principal.project_ids
    check = client_check()
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    reader = PlotReader(principal.account_id, app, lambda _: check())
    with expensive_work():
        report = make_report(reader.projects(values, options), options, Path(app.instance_path))
    return envelope.record_response(report_record(report))
