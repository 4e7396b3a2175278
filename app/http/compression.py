"""Compression of responses, for clients that ask with ``Accept-Encoding`` (RFC 9110, 12.5.3).

Each coding of a representation has its own strong entity tag: the plain one with the coding at its
end. Clients may send back either, which mean the same state of the resource, so the coding is
removed before tags are compared.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from flask import Flask, Response, request
from werkzeug.http import parse_accept_header

from app.http.etags import with_coding, without_coding

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CODINGS: Final = ("zstd", "gzip")  # in the order of preference

_TYPES: Final = frozenset(
    {
        "application/geo+json",
        "application/gpx+xml",
        "application/javascript",
        "application/json",
        "application/vnd.google-earth.kml+xml",
        "application/x-ndjson",
        "image/svg+xml",
        "text/css",
        "text/csv",
        "text/html",
        "text/javascript",
        "text/markdown",
        "text/plain",
    }
)
_SMALL: Final = 1024  # bytes that are not worth compressing
_LEVEL: Final = 1  # for both: higher ones take more time than they save bytes in coordinates


def init_app(app: Flask) -> None:
    """Compress the responses of ``app``. Call it after functions that read bodies of responses."""
    app.before_request(_read_tags)
    app.after_request(_compress_response)


@lru_cache(maxsize=256)
def choose_coding(accepted: str, *, small: bool) -> str | None:
    """The coding of a response, or None for none.

    Args:
        accepted: the header ``Accept-Encoding``.
        small: the response is compressed only if the client refuses it uncompressed.

    If a client accepts none of ours, the response is sent uncompressed.
    """
    weights = parse_accept_header(accepted.lower())
    named = set(weights.values())
    # For "*" gzip, which is supported best.
    best = max(
        CODINGS, key=lambda coding: (weights.quality(coding), coding == "gzip" or coding in named)
    )
    plain = weights.quality("identity")  # 0 where it is not named, which refuses nothing
    if weights.quality(best) == 0 or weights.quality(best) < plain:
        return None
    refused = weights.find("identity") >= 0 and plain == 0
    return best if refused or not small else None


def _read_tags() -> None:
    """Remove the codings from the tags that this request sends. ``If-Range`` keeps them: only whole
    responses are compressed."""
    environ = request.environ
    for name in ("HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH"):
        if name in environ:
            environ[name] = without_coding(environ[name], CODINGS)


def _compress_response(response: Response) -> Response:
    """Compress the response with the coding that the client prefers.

    A 206 is a part of the uncompressed body. A 304 carries the type and length of the response that
    it replaces, so that it gets the same tag; neither header is sent.
    """
    headers = {name.lower(): value for name, value in response.headers}
    if not _is_compressible(response.status_code, headers):
        return response
    if "vary" in headers:
        response.headers["Vary"] = f"{headers['vary']}, Accept-Encoding"
    else:
        response.headers.add("Vary", "Accept-Encoding")
    accepted = request.environ.get("HTTP_ACCEPT_ENCODING")
    if accepted is None or response.status_code == 206:
        return response
    length = response.content_length  # None of a stream whose end is not known
    coding = choose_coding(accepted, small=length is not None and length <= _SMALL)
    if coding is None:
        return response
    tag = headers.get("etag", "")
    if tag.startswith('"'):
        response.headers["ETag"] = with_coding(tag, coding)
    if response.status_code != 304:
        _encode_body(response, coding)
    return response


def _is_compressible(status: int, headers: Mapping[str, str]) -> bool:
    """True if the response can be compressed.

    Responses with ``no-store`` are not: they may hold a secret, and the length of a compressed text
    reveals something about its content.
    """
    return (
        headers.get("content-type", "").partition(";")[0] in _TYPES
        and status != 204
        and "content-encoding" not in headers
        and "no-store" not in headers.get("cache-control", "")
    )


def _encode_body(response: Response, coding: str) -> None:
    """Compress the body: at once if it is in memory, else piece by piece while it is sent."""
    body = response.response
    response.direct_passthrough = False
    if response.is_sequence:
        pieces = list(response.iter_encoded())
        response.set_data(b"".join(_compress_pieces(pieces, coding, sum(map(len, pieces)))))
    else:
        response.response = _compress_pieces(response.iter_encoded(), coding, None)
        response.headers.pop("Content-Length", None)
        if hasattr(body, "close"):
            response.call_on_close(body.close)
    response.headers.pop("Accept-Ranges", None)  # parts are taken from what is not compressed
    response.headers["Content-Encoding"] = coding


def _compress_pieces(pieces: Iterable[bytes], coding: str, length: int | None) -> Iterator[bytes]:
    compressor: Any
    if coding == "gzip":
        compressor = zlib.compressobj(_LEVEL, wbits=zlib.MAX_WBITS | 16)
    else:
        compressor = zstd.ZstdCompressor(level=_LEVEL)
        if length is not None:  # saves memory and time for short texts
            compressor.set_pledged_input_size(length)
    for piece in pieces:
        if compressed := compressor.compress(piece):
            yield compressed
    yield compressor.flush()
