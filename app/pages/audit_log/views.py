"""The audit log, and the picture of a changed boundary in it."""

from __future__ import annotations

from typing import Final

from flask import Response, request

from app.audit.log.checkpoints import list_checkpoints
from app.audit.log.files import FORMATS
from app.audit.log.listing import list_latest
from app.audit.log.responses import file_response
from app.audit.log.service import read_entry, write_export_entry
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.http.errors import BadRequest, NotFound
from app.lists.logs import LOOKED_THROUGH
from app.pages.audit_log.existing import addresses_of
from app.pages.audit_log.filters import read_filters
from app.pages.audit_log.lines import Line, boundary_of, line_of
from app.pages.audit_log.picture import picture
from app.pages.audit_log.proof import MOST_COUNTED, proof_of
from app.pages.filters import refuse
from app.projects.boundary_history.listing import find_entry, readable_boundary_ids
from app.site.pages import PageBlueprint, page, revalidated
from app.site.protection import own_site_only
from app.site.signed_in import of_account
from app.values.strict_json import dumps, loads_own

bp = PageBlueprint("audit_log_page", __name__, section="/audit-log")

_PER_PAGE: Final = 50
_KEPT: Final = 100  # checkpoints in a file
_SVG: Final = "image/svg+xml"


@bp.get("/audit-log")
@of_account("admin")
def audit_log(principal: Principal) -> Response:
    """The entries that the filters leave, the newest first."""
    filters = read_filters(principal.account_id, request.args)
    query = filters.query(per_page=_PER_PAGE)
    found = list_latest(principal.account_id, query, filters.before or None)
    lines = list(map(line_of, found.entries))
    return page(
        "audit_log/audit_log.html",
        filters=filters,
        lines=lines,
        found=found,
        looked_through=LOOKED_THROUGH,
        pages=addresses_of(principal.account_id, found.entries),
        drawn=_drawn(principal.account_id, lines),
        proof=proof_of(principal.account_id),
        most_counted=MOST_COUNTED,
    )


@bp.post("/audit-log/export")
@of_account("admin")
def export(principal: Principal) -> Response:
    """A file with all that the filters leave."""
    filters = read_filters(principal.account_id, request.form)
    format_name = request.form.get("format", "")
    refuse(filters.problems)
    if format_name not in FORMATS:
        raise BadRequest("Choose CSV or NDJSON.")
    account_id, query = principal.account_id, filters.query()

    def record() -> None:
        with transaction():
            write_export_entry(account_id, format_name, query)

    return file_response(account_id, format_name, query, record)


@bp.get("/audit-log/checkpoints.json")
@of_account("admin")
@own_site_only
def checkpoints(principal: Principal) -> Response:
    """The newest checkpoints, to be kept elsewhere. The last one would do: it covers all others."""
    kept, _ = list_checkpoints(principal.account_id, 1, _KEPT)
    response = Response(dumps({"data": kept}), content_type="application/json")
    name = f"audit-log-checkpoint-{kept[0]['number'] if kept else 0}.json"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.get("/audit-log/<audit_id>/boundary.svg")
@of_account("admin")
@own_site_only
def boundary(principal: Principal, audit_id: str) -> Response:
    """The picture of how the boundary changed that an entry tells of."""
    entry = loads_own(dumps(read_entry(principal.account_id, audit_id)))
    change = boundary_of(entry["changes"] or {})
    if change is None:
        raise NotFound("There is no such picture.")
    texts = [
        find_entry(principal.account_id, entry["target"]["id"], each).text for each in change.ids
    ]
    former, present = ([None, *texts] if change.is_new else [*texts, None])[:2]
    drawn = picture(former, present)
    if drawn is None:
        raise NotFound("There is no such picture.")
    return revalidated(drawn.encode(), _SVG)


def _drawn(account_id: str, lines: list[Line]) -> frozenset[str]:
    """The entries with a picture: those whose boundaries are all still kept."""
    named = {
        line.entry["id"]: (line.entry["target"]["id"], line.boundary.ids)
        for line in lines
        if line.boundary and line.boundary.ids
    }
    if not named:
        return frozenset()
    project_ids = sorted({project_id for project_id, _ in named.values()})
    kept = readable_boundary_ids(
        account_id, project_ids, sorted({each for _, ids in named.values() for each in ids})
    )
    return frozenset(key for key, (_, ids) in named.items() if kept.issuperset(ids))
