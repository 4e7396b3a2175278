"""Queries and headers that were made to be expensive: for each route that is read, each of its
parameters with the worst values, and any number of them by chance, over an account that has the
worst of all; and among those by chance, changes of boundaries.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final
from urllib.parse import quote, urlencode

from app.api.openapi.document import api_description
from app.assets.service import create_asset
from app.db.extensions import db
from app.geometry import GeometryInvalid, read_boundary, read_point
from app.policy.files import FORMATS_OUT
from app.policy.ogc import FILTER_LENGTH, FILTER_PATTERNS, FILTER_SHAPES, PATTERN_LENGTH
from app.policy.request_limits import DESCRIPTION_LENGTH, SEARCH_LENGTH
from app.projects.service import create_project
from tests.api.operations import EVERYTHING, bare_app, fill
from tests.geometry.expensive_shapes import SHAPES, comb
from tests.make import Browser, Client, make_project, operator_of, point
from tests.oauth.support import browser_of
from trials.heavy.bodies import changes
from trials.heavy.request import Request

ONES, ALIKE, ASSETS = 1_000, 250, 3_000  # projects with long texts, with combs; assets
# What leads elsewhere, or reads nothing.
_SKIPPED: Final = re.compile(r"/static/|/oauth/authorize|/verify/|/sign-in/|/logout")
_PAGES: Final = ("a", "aa", "aaab", "a" * (SEARCH_LENGTH - 1) + "b", "a" * SEARCH_LENGTH, "ab" * 99)
_CHANGES: Final = 0.2  # for each request that reads
_COLLECTIONS: Final = ("projects", "assets")

# Values of headers. The server takes 64 KB of fields of 8,190 bytes, and joins those of one name.
HEADERS: Final = {
    "tags": b'"' + b'","'.join([b"a"] * 2_000) + b'"',
    "empty tags": b'"",' * 2_600,
    "commas": b"," * 8_000,
    "spaces": b"a" + b" " * 7_900 + b"a",
    "codings": b",".join(b"x%d;q=0.%d" % (number, number % 10) for number in range(700)),
    "cookies": b"; ".join(b"a%d=1" % number for number in range(900)),
}
_NAMES: Final = (
    "Accept", "Accept-Encoding", "Authorization", "Content-Type", "Cookie", "Idempotency-Key",
    "If-Match", "If-None-Match", "Range", "X-Forwarded-For",
)  # fmt: skip


def fill_account(client: Client) -> None:
    """Give an account what is expensive to search, compare, draw and write."""
    with client.app.app_context():
        principal = operator_of(client)
        long = DESCRIPTION_LENGTH * "a"
        teeth = read_boundary(comb(2_100))
        metadata = json.dumps({f"=k{number}": "a" * 200 for number in range(50)})
        last = ""
        for number in range(ONES):
            values: dict[str, Any] = {"description": long, "metadata_json": metadata}
            last = create_project(principal, name=f"a{number}" + "a" * 180, **values)["id"]
        for number in range(ALIKE):
            create_project(principal, name=f"comb {number}", geometry=teeth)
        for name in SHAPES:
            with suppress(GeometryInvalid):  # those that are meant to be faulty
                boundary = read_boundary(SHAPES[name](900))
                create_project(principal, name=name, geometry=boundary)
        db.session.commit()
        for number in range(ASSETS):
            place = read_point(point(number % 100 / 100, number / ASSETS))
            values = {"name": "a" * 200, "type": "equipment", "metadata_json": metadata}
            create_asset(principal, last, location=place, **values)
        db.session.commit()


def queries(client: Client, rng: random.Random) -> Iterator[Request]:
    """Requests without end: first each route alone and with each worst value of each of its
    parameters, then with some of them by chance, and changes by chance."""
    known = list(routes(client))
    for path, headers, parameters in known:
        yield _request(path, headers, {})
        for name, values in parameters.items():
            for value in (*values(rng), *_LONG):
                yield _request(path, headers, {name: value})
    boundaries = changes(client, rng)
    while True:
        if rng.random() < _CHANGES:
            yield next(boundaries)
        path, headers, parameters = rng.choice(known)
        chosen = rng.sample(sorted(parameters), rng.randint(0, min(4, len(parameters))))
        yield _request(path, headers, {n: rng.choice(parameters[n](rng)) for n in chosen})


_LONG: Final = tuple(piece * (6_000 // len(quote(piece))) for piece in ("x", ",", "%_", " ", "9"))
Values = Callable[[random.Random], Sequence[str]]


def routes(client: Client) -> Iterator[tuple[str, Mapping[str, str], dict[str, Values]]]:
    """Each path that can be read, the headers that it needs, and its parameters."""
    ids = fill(client, EVERYTHING)
    cookies = {"Cookie": _cookies(browser_of(client)), "Sec-Fetch-Site": "same-origin"}
    described = _described()
    for rule in sorted({each.rule for each in bare_app().url_map.iter_rules() if _is_read(each)}):
        names = dict.fromkeys(re.findall(r"<(?:\w+:)?(\w+)>", rule))
        choices = _COLLECTIONS if "collection" in names or "collection_id" in names else ("",)
        for collection in choices:
            path = re.sub(
                r"<(?:\w+:)?(\w+)>",
                lambda name, chosen=collection: ids.get(name[1], chosen or "x"),  # type: ignore[misc]
                rule,
            )
            is_program = rule.startswith(("/v1", "/ogc", "/api"))
            headers = client.authorization if is_program else cookies
            own = described.get(re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule), {})
            if rule.startswith("/ogc"):
                own = {name: _OF_NAME[name] for name in _OGC}
            elif not is_program:
                own = {name: _OF_NAME[name] for name in ("search", "bbox", "page", "sort")}
            yield path, headers, own


def _is_read(rule: Any) -> bool:
    return "GET" in (rule.methods or ()) and not _SKIPPED.search(rule.rule)


def _described() -> dict[str, dict[str, Values]]:
    """The parameters of the operations of /v1 that are in queries, by path."""
    with bare_app().app_context():
        document = api_description()
    shared = document["components"]["parameters"]

    def parameters(operation: Mapping[str, Any]) -> dict[str, Values]:
        found = [
            shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
            for each in operation.get("parameters", ())
        ]
        return {
            each["name"]: _OF_NAME.get(each["name"], _listed(each.get("schema", {})))
            for each in found
            if each["in"] == "query"
        }

    return {path: parameters(each.get("get", {})) for path, each in document["paths"].items()}


def _listed(schema: Mapping[str, Any]) -> Values:
    values = [str(each) for each in schema.get("enum", ("a", "1"))]
    return lambda _: values


def _like(rng: random.Random) -> str:
    """Patterns that each compare much of a text."""
    number = rng.randint(1, FILTER_PATTERNS)
    most = min(PATTERN_LENGTH, (FILTER_LENGTH - 60 * number) // number)
    kinds = ("%{a}b", "%{a}b%", "%a%a%a%{a}%b", "%{u}b", "{u}%", "%{ab}c")
    tests = []
    for count in range(number):
        length = rng.randint(1, most - 20)
        body = rng.choice(kinds).format(a="a" * length, u="_" * length, ab=("ab" * length)[:length])
        column = rng.choice(("description", "description", "name"))
        tests.append(f"{column} LIKE '{body[:most]}{count}'")
    return rng.choice((" OR ", " AND NOT ")).join(tests)


def _shape(rng: random.Random, most: int) -> str:
    """A geometry that crosses much of a comb."""
    width = rng.choice((1e-4, 0.05, 3.0))
    number = max(2, min(most // 40, rng.choice((2, 60, 200))))
    xs = [width * count / number for count in range(number)]
    kind = rng.choice(("lines", "zigzag", "points", "polygon"))
    if kind == "lines":
        return "MULTILINESTRING(" + ",".join(f"({x:.6f} .1,{x:.6f} 9)" for x in xs) + ")"
    if kind == "points":
        return "MULTIPOINT(" + ",".join(f"{x:.6f} 5" for x in xs) + ")"
    ups = [f"{x:.6f} {9 if count % 2 else 0.1}" for count, x in enumerate(xs)]
    if kind == "zigzag":
        return f"LINESTRING({','.join(ups)})"
    teeth = [f"{x:.6f} {y}" for x in xs for y in (0, 9, 9.1)][: len(xs)]
    return f"POLYGON((0 0,{','.join(teeth)},{width} -1,0 0))"


def _intersects(rng: random.Random) -> str:
    number = rng.randint(1, FILTER_SHAPES)
    each = FILTER_LENGTH // number - 40
    tests = [f"S_INTERSECTS(geometry,{_shape(rng, each)})" for _ in range(number)]
    return rng.choice((" OR ", " AND ")).join(tests)


def _filters(rng: random.Random) -> Sequence[str]:
    nested = "NOT (" * 19 + "name='a'" + ")" * 19
    many = "name IN (" + ",".join(f"'{'a' * 30}{number}'" for number in range(190)) + ")"
    mixed = f"({_like(rng)}) AND {_intersects(rng)}"
    return [_like(rng), _like(rng), _intersects(rng), _intersects(rng), mixed, nested, many]


def _boxes(rng: random.Random) -> Sequence[str]:
    west, south = rng.uniform(-1, 1), rng.uniform(0, 9)
    own = f"{west},{south},{west + 0.01},{south + 0.5}"
    return ["-180,-90,180,90", "170,-90,-170,90", "0,0,0.05,10", own]


_OF_NAME: Final[dict[str, Values]] = {
    "search": lambda _: _PAGES,
    "bbox": _boxes,
    "filter": _filters,
    "filter-lang": lambda _: ("cql2-text",),
    "limit": lambda _: ("1", "10000"),
    "per_page": lambda _: ("1", "100"),
    "page": lambda _: ("1", "2", "1000", "1000000"),
    "cursor": lambda _: ("2026-01-01T00:00:00Z~proj_01arz3ndektsv4rrffq69g5fav",),
    "crs": lambda _: ("http://www.opengis.net/def/crs/EPSG/0/3857",),
    "f": lambda _: ("json", "html"),
    "format": lambda _: (*FORMATS_OUT, "geojson", "ndjson", "csv"),
    "datetime": lambda _: ("2020-01-01T00:00:00Z/..", "../2020-01-01T00:00:00Z"),
    "updated_since": lambda _: ("2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"),
    "zoom": lambda _: ("0", "4", "8", "11", "14", "22"),
    "sort": lambda _: ("name", "-name", "created_at", "-updated_at", "-area_hectares"),
    "fields": lambda _: ("id", "geometry", "name,metadata"),
    "ids": lambda _: (",".join(f"proj_{number:026}" for number in range(100)),),
    "name": lambda _: _PAGES,
    "external_id": lambda _: _PAGES,
}
_OGC: Final = ("filter", "bbox", "limit", "crs", "f", "datetime", "cursor", "name")


def _request(path: str, headers: Mapping[str, str], values: Mapping[str, str]) -> Request:
    query = urlencode(values, quote_via=quote)
    shown = {name: value if len(value) < 60 else f"{value[:57]}…" for name, value in values.items()}
    name = f"GET {path} {' '.join(f'{n}={v}' for n, v in shown.items())}"
    return Request(name, "GET", f"{path}?{query}" if query else path, bytes, headers)


def heads(client: Client) -> Iterator[Request]:
    """Each header with each value."""
    path = f"/v1/projects/{make_project(client)['id']}"
    for name in _NAMES:
        own = {} if name == "Authorization" else client.authorization
        for kind, value in HEADERS.items():
            for method, body in (("GET", b""), ("PUT", b"{}")):
                what = f"{method} a project {name} = {kind}"
                yield Request(what, method, path, partial(bytes, body), own, (name, value[:8_000]))


def _cookies(browser: Browser) -> str:
    found = browser.client._cookies or {}
    return "; ".join(f"{cookie.key}={cookie.value}" for cookie in found.values())
