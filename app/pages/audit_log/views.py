"""The audit log, and the picture of a changed boundary in it."""

from __future__ import annotations

from typing import Final

from flask import Response, request

from app.audit.log.checkpoints import list_checkpoints
from app.audit.log.listing import list_latest
from app.audit.log.responses import file_response
from app.audit.log.service import read_entry
from app.auth.principal import Principal
from app.http.errors import NotFound
from app.lists.logs import LOOKED_THROUGH
from app.pages.audit_log.filters import EntryFilters, read_export
from app.pages.audit_log.lines import Line, boundary_of, line_of
from app.pages.audit_log.picture import draw_difference
from app.pages.audit_log.proof import MOST_COUNTED, proof_of
from app.pages.audit_log.target_addresses import addresses_of
from app.projects.boundary_history.listing import find_entry, readable_boundary_ids
from app.site.pages import PageBlueprint, page, revalidated
from app.site.protection import own_site_only
from app.site.signed_in import of_account
from app.values.strict_json import dumps, loads_own

bp = PageBlueprint("audit_log_page", __name__, section="/audit-log")

PER_PAGE: Final = 50
_CHECKPOINTS: Final = 100  # in a file
_SVG: Final = "image/svg+xml"


@bp.get("/audit-log", of_account("admin"))
def audit_log(principal: Principal) -> Response:
    """The entries that the filters leave, the newest first."""
    filters = EntryFilters(principal.account_id, request.args)
    query = filters.query(per_page=PER_PAGE)
    listed = list_latest(principal.account_id, query, filters.before or None)
    lines = list(map(line_of, listed.entries))
    return page(
        "audit_log/audit_log.html",
        filters=filters,
        lines=lines,
        listed=listed,
        looked_through=LOOKED_THROUGH,
        pages=addresses_of(principal.account_id, listed.entries),
        pictured=_ids_with_picture(principal.account_id, lines),
        proof=proof_of(principal.account_id),
        most_counted=MOST_COUNTED,
    )


@bp.post("/audit-log/export", of_account("admin"))
def export(principal: Principal) -> Response:
    """A file with all that the filters leave."""
    account_id = principal.account_id
    format_name, query = read_export(EntryFilters(account_id, request.form), request.form)
    return file_response(account_id, format_name, query)


@bp.get("/audit-log/checkpoints.json", of_account("admin"))
@own_site_only
def checkpoints(principal: Principal) -> Response:
    """The newest checkpoints, to be kept elsewhere. The last one would do: it covers all others."""
    newest, _ = list_checkpoints(principal.account_id, 1, _CHECKPOINTS)
    response = Response(dumps({"data": newest}), content_type="application/json")
    name = f"audit-log-checkpoint-{newest[0]['number'] if newest else 0}.json"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.get("/audit-log/<audit_id>/boundary.svg", of_account("admin"))
@own_site_only
def boundary(principal: Principal, audit_id: str) -> Response:
    """The picture of the boundary's change in an entry."""
    entry = loads_own(dumps(read_entry(principal.account_id, audit_id)))
    change = boundary_of(entry["changes"] or {})
    if change is None:
        raise NotFound("There is no such picture.")
    texts = [
        find_entry(principal.account_id, entry["target"]["id"], boundary_id).text
        for boundary_id in change.ids
    ]
    former, present = ([None, *texts] if change.is_new else [*texts, None])[:2]
    svg = draw_difference(former, present)
    if svg is None:
        raise NotFound("There is no such picture.")
    return revalidated(svg.encode(), _SVG)


def _ids_with_picture(account_id: str, lines: list[Line]) -> frozenset[str]:
    """Return the ids of the entries with a picture: the history still has their boundaries."""
    boundaries = {
        line.entry["id"]: (line.entry["target"]["id"], line.boundary.ids)
        for line in lines
        if line.boundary and line.boundary.ids
    }
    if not boundaries:
        return frozenset()
    project_ids = sorted({project_id for project_id, _ in boundaries.values()})
    boundary_ids = sorted({boundary_id for _, ids in boundaries.values() for boundary_id in ids})
    existing = readable_boundary_ids(account_id, project_ids, boundary_ids)
    return frozenset(key for key, (_, ids) in boundaries.items() if existing.issuperset(ids))
