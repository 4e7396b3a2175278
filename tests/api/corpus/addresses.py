"""Paths, ids and methods."""

from __future__ import annotations

from tests.api.corpus.case import ASSETS, PROJECT, PROJECTS, Bad

FREE = "01arz3ndektsv4rrffq69g5fav"


def _id(what: str, text: str) -> Bad:
    return Bad(f"id {what}", "GET", f"{PROJECTS}/{text}", 404, None)


def _lost(what: str, path: str, method: str = "GET") -> Bad:
    return Bad(what, method, path, 404, None)


def _method(method: str, path: str) -> Bad:
    return Bad(f"{method} {path}", method, path, 405, None)


CASES = [
    _id("unknown", f"proj_{FREE}"),
    _id("without its prefix", FREE),
    _id("of another kind", f"asset_{FREE}"),
    _id("too long", f"proj_{FREE}a"),
    _id("of 10 kB", "proj_" + "0" * 10_000),
    _id("with NUL", f"proj_{FREE}%00"),
    _id("with a line feed", f"proj_{FREE}%0A"),
    _id("of a broken escape", "%zz"),
    _id("that is not UTF-8", "%ff%fe"),
    _id("of other digits", "proj_%D9%A3" + FREE[1:]),
    _id("with an escaped slash", "proj_%2f..%2f"),
    _id("a quote", "'%20OR%20'1'='1"),
    _lost("an unknown asset", f"{ASSETS}/asset_{FREE}"),
    _lost("an asset with NUL", f"{ASSETS}/asset_{FREE}%00"),
    _lost("an asset of another project", f"{PROJECTS}/proj_{FREE}/assets/{{asset}}"),
    _lost("a change to an unknown project", f"{PROJECTS}/proj_{FREE}", "PUT"),
    _lost("the end of an unknown project", f"{PROJECTS}/proj_{FREE}", "DELETE"),
    _lost("archiving an unknown project", f"{PROJECTS}/proj_{FREE}/archive", "POST"),
    _lost("an unknown resource", "/v1/forests"),
    _lost("an unknown action", f"{PROJECT}/publish", "POST"),
    _lost("the version alone", "/v1"),
    _lost("a resource in capitals", "/v1/Projects"),
    _lost("two slashes at the end", "/v1/projects//"),
    _lost("an escaped slash", "/v1%2fprojects/x"),
    _lost("far too long", "/v1/" + "a/" * 4000),
    _method("PATCH", PROJECTS),
    _method("OPTIONS", PROJECTS),
    _method("PROPFIND", PROJECTS),
    _method("POST", PROJECT),
    _method("GET", f"{PROJECT}/archive"),
    _method("HEAD", f"{PROJECT}/archive"),
    _method("POST", "/v1/openapi.json"),
]
