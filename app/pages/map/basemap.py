"""``/map/basemap.pmtiles``: the instance's own map, which scripts read in ranges."""

from __future__ import annotations

from flask import Response, request, send_file
from werkzeug.exceptions import RequestedRangeNotSatisfiable

from app.api.expensive import until_the_end
from app.auth.sessions import SignedIn
from app.basemap import own_basemap
from app.basemap.own import FILE
from app.db import queries
from app.downloads.responses import export_slot
from app.http.errors import NotFound, ServiceUnavailable
from app.policy.files import BASEMAP_RANGE_BYTES, EXPORT_HELD_BYTES, EXPORT_SECONDS
from app.processes.web_server.response_buffer import pace_response
from app.settings.current import current_settings
from app.site.pages import PageBlueprint
from app.site.protection import own_site_only
from app.site.signed_in import signed_in

bp = PageBlueprint("own_basemap", __name__)


@bp.get(f"/map/{FILE}", signed_in)
@own_site_only
def basemap_file(person: SignedIn) -> Response:
    """The file of the instance's own map, or a range of it."""
    basemap = own_basemap()
    if basemap is None:
        raise NotFound
    queries.release_connection()
    # gunicorn's wrapper cannot seek: all of the file before a part would be read.
    request.environ.pop("wsgi.file_wrapper", None)
    try:
        response = send_file(basemap.path, "application/vnd.pmtiles", conditional=True)
    except RequestedRangeNotSatisfiable as error:
        return Response(status=416, headers={"Content-Range": f"bytes */{error.length}"})
    response.headers["Cache-Control"] = "private, max-age=86400"  # its address has a version
    if request.method == "GET" and (response.content_length or 0) > BASEMAP_RANGE_BYTES:
        # The thread waits for the client, as the whole may be larger than the memory.
        response.direct_passthrough = False  # else nothing is called at its end
        try:
            until_the_end(export_slot(person.user_id, current_settings().web_threads))
        except ServiceUnavailable:
            response.close()
            raise
        pace_response(EXPORT_HELD_BYTES, EXPORT_SECONDS)
    return response
