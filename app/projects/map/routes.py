"""/v1/projects/map."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.api.blueprint import ApiBlueprint
from app.auth.principal import Principal
from app.http.etags import entity_tag
from app.http.response_cache import cached_response
from app.projects.listing import project_query
from app.projects.map import service
from app.projects.map.schemas import MapQuerySchema, MapSchema

bp = ApiBlueprint("maps", "/v1", "Projects as they are drawn.")


@bp.operation(
    "GET /projects/map",
    needs="projects:read",
    of_some_projects=True,
    query=MapQuerySchema,
    gives=(200, MapSchema),
)
def map_projects(principal: Principal, values: dict[str, Any]) -> Response:
    """Get projects for a map.

    A FeatureCollection of the largest projects in `bbox`, the largest first. Boundaries are
    simplified to half a pixel of `zoom`; what is smaller than 2 pixels is a point. Archived
    projects are included; `status=active` leaves them out.
    """
    zoom = values.pop("zoom")
    wanted = project_query(**values, within=principal.project_ids)

    def make() -> Response:
        drawn = service.draw_map(principal.account_id, wanted, zoom)
        return Response(drawn, content_type=MapSchema.content_type)

    if principal.project_ids is not None:  # the other tag tells of changes to other projects
        made = make()
        tag = entity_tag(made.iter_encoded())
        return cached_response(f"W/{tag}", MapSchema.content_type, lambda: made)
    tag = service.map_tag(principal.account_id, wanted, zoom)
    return cached_response(tag, MapSchema.content_type, make)
