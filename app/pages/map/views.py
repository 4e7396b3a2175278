"""The places that somebody may mean who types into *Go to* on a map."""

from __future__ import annotations

from flask import Response, request

from app.api.web_routes import json_response
from app.auth.principal import Principal
from app.pages.map.places import find_places
from app.policy.request_limits import SEARCH_LENGTH
from app.site.pages import PageBlueprint
from app.site.protection import own_site_only
from app.site.signed_in import of_account

bp = PageBlueprint("map", __name__, section="/projects")


@bp.get("/map/places", of_account("projects:read"))
@own_site_only
def places(principal: Principal) -> Response:
    """Positions, projects, countries and towns for a text; where there are none, a sentence."""
    found, message = find_places(principal.account_id, request.args.get("q", "")[:SEARCH_LENGTH])
    return json_response({"places": found, "message": message})
