"""Paths, ids and methods."""

from __future__ import annotations

from tests.api.corpus.case import ASSET, ASSETS, PROJECT, PROJECTS, Bad

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
    _id("of an account", f"acct_{FREE}"),
    _id("in capitals", f"PROJ_{FREE.upper()}"),
    _id("too short", "proj_01arz3"),
    _id("too long", f"proj_{FREE}a"),
    _id("of letters that ULIDs lack", "proj_01arz3ndektsv4rrffq69g5fiu"),
    _id("of 10 kB", "proj_" + "0" * 10_000),
    _id("with NUL", f"proj_{FREE}%00"),
    _id("of NUL alone", "%00"),
    _id("with a line feed", f"proj_{FREE}%0A"),
    _id("with a space", f"proj_{FREE}%20"),
    _id("with a percent sign", "%25"),
    _id("of a broken escape", "%zz"),
    _id("that is not UTF-8", "%ff%fe"),
    _id("with a surrogate", "%ed%a0%80"),
    _id("of other letters", "%E6%A3%AE%E6%9E%97"),
    _id("an emoji", "%F0%9F%8C%B2"),
    _id("of other digits", "proj_%D9%A3" + FREE[1:]),
    _id("a dot, escaped", "%2e"),
    _id("two dots, escaped", "%2e%2e"),
    _id("with an escaped slash", "proj_%2f..%2f"),
    _id("a quote", "'%20OR%20'1'='1"),
    _id("null", "null"),
    _id("an asterisk", "*"),
    _id("a semicolon", f"proj_{FREE};x=1"),
    _lost("an unknown asset", f"{ASSETS}/asset_{FREE}"),
    _lost("an asset by the id of its project", f"{ASSETS}/{{project}}"),
    _lost("an asset with NUL", f"{ASSETS}/asset_{FREE}%00"),
    _lost("an asset of a project with NUL", f"{PROJECTS}/%00/assets/{{asset}}"),
    _lost("an asset of another project", f"{PROJECTS}/proj_{FREE}/assets/{{asset}}"),
    _lost("the assets of no project", f"{PROJECTS}//assets"),
    _lost("a change to an unknown project", f"{PROJECTS}/proj_{FREE}", "PUT"),
    _lost("the end of an unknown project", f"{PROJECTS}/proj_{FREE}", "DELETE"),
    _lost("archiving an unknown project", f"{PROJECTS}/proj_{FREE}/archive", "POST"),
    _lost("restoring a word", f"{PROJECTS}/restore/restore", "POST"),
    _lost("an unknown resource", "/v1/forests"),
    _lost("an unknown resource, posted to", "/v1/forests", "POST"),
    _lost("an unknown action", f"{PROJECT}/publish", "POST"),
    _lost("something below an action", f"{PROJECT}/archive/now", "POST"),
    _lost("the version alone", "/v1"),
    _lost("the version with a slash", "/v1/"),
    _lost("another version", "/v2/projects"),
    _lost("the version in capitals", "/V1/projects"),
    _lost("a resource in capitals", "/v1/Projects"),
    _lost("two slashes inside", "/v1//projects"),
    _lost("two slashes at the end", "/v1/projects//"),
    _lost("a dot inside", "/v1/./projects/%2e/x"),
    _lost("a file ending", "/v1/projects.json"),
    _lost("a backslash", "/v1%5cprojects"),
    _lost("an escaped slash", "/v1%2fprojects/x"),
    _lost("a matrix parameter", "/v1/projects;page=2"),
    _lost("far too long", "/v1/" + "a/" * 4000),
    _method("PATCH", PROJECTS),
    _method("PUT", PROJECTS),
    _method("DELETE", PROJECTS),
    _method("OPTIONS", PROJECTS),
    _method("TRACE", PROJECTS),
    _method("CONNECT", PROJECTS),
    _method("PROPFIND", PROJECTS),
    _method("POST", PROJECT),
    _method("GET", f"{PROJECT}/archive"),
    _method("PUT", f"{PROJECT}/restore"),
    _method("DELETE", ASSETS),
    _method("POST", ASSET),
    _method("HEAD", f"{PROJECT}/archive"),
    _method("DELETE", "/v1/account"),
    _method("POST", "/v1/account/usage"),
    _method("POST", "/v1/auth/verify"),
    _method("GET", "/v1/geometry/validate"),
    _method("POST", "/v1/openapi.json"),
]
