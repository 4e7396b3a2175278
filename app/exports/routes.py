"""/v1/exports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import chain
from typing import Any, Final

from flask import Response, current_app, request

from app.account.service import read_account
from app.api.blueprint import ApiBlueprint
from app.api.expensive import client_check, until_the_end
from app.auth.principal import Principal
from app.db import queries
from app.exports import service
from app.exports.schemas import AssetExportQuerySchema, ProjectExportQuerySchema
from app.exports.service import FORMATS, Export, export_of
from app.exports.slots import export_slot
from app.formats.writers.formats import STREAMED
from app.policy.files import EXPORT_HELD_BYTES, EXPORT_SECONDS, FORMATS_OUT
from app.web_server.response_buffer import pace_response

bp = ApiBlueprint(
    "exports", __name__, url_prefix="/v1", description="All projects or all assets as one file."
)

# The beginning of a file of each format, for the description of the API.
_BEGINNINGS: Final[dict[str, str]] = {
    "geojson": '{"type":"FeatureCollection","features":[',
    "geojsonl": '{"type":"Feature","id":"proj_01k9zq3mgse2j7tbyw5c4r8nhd",',
    "csv": "id,name,",
    "kml": '<?xml version="1.0" encoding="UTF-8"?>',
    "gpkg": "SQLite format 3",
    "shp": "PK",
    "gpx": '<?xml version="1.0" encoding="UTF-8"?>',
}


def _files(kind: str) -> dict[str, str]:
    return {FORMATS_OUT[name][0]: _BEGINNINGS[name] for name in FORMATS[kind] if name != "eudr"}


@bp.operation(
    "GET",
    "/exports/projects",
    needs="projects:read",
    query=ProjectExportQuerySchema,
    gives=(200, None),
    files=_files("projects"),
)
def export_projects(principal: Principal, values: dict[str, Any]) -> Response:
    """Export projects to a file.

    The oldest comes first. A response that ends too early is a failed one, and its file is
    incomplete. If another export is running, the response is 503.
    """
    return _file_response(export_of("projects", principal.account_id, values))


@bp.operation(
    "GET",
    "/exports/assets",
    needs="assets:read",
    query=AssetExportQuerySchema,
    gives=(200, None),
    files=_files("assets"),
)
def export_assets(principal: Principal, values: dict[str, Any]) -> Response:
    """Export assets to a file.

    The oldest comes first. A response that ends too early is a failed one, and its file is
    incomplete. If another export is running, the response is 503.
    """
    return _file_response(export_of("assets", principal.account_id, values))


def _file_response(export: Export) -> Response:
    """The file, a piece at a time. The first is there before the response begins, so that what
    fails until then is an error response; what fails later ends the connection."""
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    slot = until_the_end(ExitStack())
    slot.enter_context(export_slot(export.account_id, app.config["SETTINGS"].web_threads))
    slug = read_account(export.account_id)["slug"]
    queries.release()  # each query of an export has a connection of its own
    # A response without a length ends with its connection in HTTP/1.0, whatever the reason.
    at_once = request.environ.get("SERVER_PROTOCOL") == "HTTP/1.0"
    pieces, size = service.write_export(export, app, _client_check(export), at_once=at_once)
    until_the_end(closing(pieces))
    first = next(pieces, b"")
    pace_response(EXPORT_HELD_BYTES, EXPORT_SECONDS)
    body = _then_last(chain([first], pieces), slot.close)
    response = Response(body, content_type=FORMATS_OUT[export.format][0])
    if size is not None:
        response.content_length = size
    name = service.filename(slug, export.kind, export.format)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _then_last(pieces: Iterator[bytes], do: Callable[[], None]) -> Iterator[bytes]:
    """The pieces, with something done before the last one: a client that has read it can begin its
    next export."""
    last = next(pieces)
    for piece in pieces:
        yield last
        last = piece
    do()
    yield last


def _client_check(export: Export) -> Callable[[int], None]:
    """Ends the writing of a whole file when its client has gone. Where each piece is sent at once,
    sending fails then."""
    check = client_check()
    return (lambda _: None) if export.format in STREAMED else (lambda _: check())
