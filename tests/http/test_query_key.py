"""Keys are taken out of the address, wherever a copy of it is."""

from __future__ import annotations

from typing import Any

from app.http.query_key import KEY, QueryKeyMiddleware


def passed(path: str, query: str) -> dict[str, Any]:
    """What the application gets of a request."""
    seen: dict[str, Any] = {}

    def application(environ: dict[str, Any], _: Any) -> list[bytes]:
        seen.update(environ)
        return []

    address = f"{path}?{query}"
    environ = {
        "PATH_INFO": path, "QUERY_STRING": query, "RAW_URI": address, "REQUEST_URI": address,
    }  # fmt: skip
    QueryKeyMiddleware(application)(environ, None)
    return seen


def test_a_key_is_moved() -> None:
    for query, rest, key in [
        ("key=abc", "", "abc"),
        ("a=1&key=abc&b=%20", "a=1&b=%20", "abc"),
        ("%6b%65%79=abc", "", "abc"),
        ("key=a%2Bb+c", "", "a+b c"),
        ("key=", "", ""),
        ("key", "", ""),
        ("key=a&key=b", "", ""),
        (
            "bbox=1&crs=http://www.opengis.net/def&key=x",
            "bbox=1&crs=http://www.opengis.net/def",
            "x",
        ),
    ]:
        seen = passed("/ogc/collections", query)
        assert (seen["QUERY_STRING"], seen[KEY]) == (rest, key)
        expected = f"/ogc/collections?{rest}" if rest else "/ogc/collections"
        assert seen["RAW_URI"] == seen["REQUEST_URI"] == expected


def test_anything_else_is_left_alone() -> None:
    for path, query in [
        ("/v1/projects", "key=abc"),
        ("/ogcx", "key=abc"),
        ("/ogc", "keys=a"),
        ("/ogc", "KEY=a"),
    ]:
        seen = passed(path, query)
        assert seen["QUERY_STRING"] == query
        assert KEY not in seen
