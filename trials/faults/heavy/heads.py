"""Headers and addresses as long as they may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.api.operations import described, fill, operations
from tests.make import Client, make_project
from trials.faults.heavy.request import Request

# Values of headers. The server takes 64 KB of fields of 8,190 bytes, and joins those of one name.
HEADERS: Final = {
    "tags": b'"' + b'","'.join([b"a"] * 2_000) + b'"',
    "empty tags": b'"",' * 2_700,
    "commas": b"," * 8_000,
    "spaces": b"a" + b" " * 8_000 + b"a",
    "codings": b",".join(b"x%d;q=0.%d" % (number, number % 10) for number in range(800)),
    "cookies": b"; ".join(b"a%d=1" % number for number in range(900)),
}

_NAMES: Final = (
    "Accept",
    "Accept-Encoding",
    "Authorization",
    "Content-Type",
    "Cookie",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Range",
    "X-Forwarded-For",
)
_VALUE: Final = 8_000  # bytes of a field
_QUERY: Final = 7_900  # bytes, so that the request line has its 8,190 at most
QUERIES: Final = {
    "text": "x",
    "commas": ",",
    "words": "a,",
    "wildcards": "%25_",
    "spaces": "%20",
    "marks": "%CC%81%CC%96",
    "digits": "9",
    "numbers": "1e9,",
    "NUL": "%00",
    "not UTF-8": "%ff",
    "parameters": "a&a=",
    "brackets": "[(",
}
_PAGES: Final = ("/login?next=", "/oauth/authorize?state=", "/?a=", "/docs?a=", "/static/any/")


def heads(client: Client) -> Iterator[Request]:
    """Each header with each value, and each parameter of an address."""
    path = f"/v1/projects/{make_project(client)['id']}"
    for name in _NAMES:
        own = {} if name == "Authorization" else client.authorization
        for kind, value in HEADERS.items():
            for method, body in (("GET", b""), ("PUT", b"{}")):
                what = f"{method} /v1/projects/<project_id> {name} = {kind}"
                yield Request(what, method, path, body.strip, own, repeated=(name, value[:_VALUE]))
    for name, path in _addresses(client):
        for kind, piece in QUERIES.items():
            room = _QUERY - len(path)
            address = path + piece * (room // len(piece))
            yield Request(f"{name} = {kind}", "GET", address, bytes, client.authorization)


def _addresses(client: Client) -> Iterator[tuple[str, str]]:
    """The beginning of each address, up to the value of a parameter, with its name."""
    for operation in operations():
        if operation.method != "GET":
            continue
        ids = fill(client, operation)
        for parameter in described(operation).get("parameters", []):
            if parameter.get("in") == "query":
                yield (
                    f"{operation.name} {parameter['name']}",
                    operation.path_with(ids, f"{parameter['name']}="),
                )
        yield f"{operation.name} id", f"{operation.path(ids)}a"
    yield from ((f"GET {path}", path) for path in _PAGES)
