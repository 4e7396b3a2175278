"""Query strings."""

from __future__ import annotations

from tests.api.corpus.case import ASSETS, PROJECT, PROJECTS, Bad, query

CASES = [
    query("page with a fraction", "page", "page=5.7"),
    query("page with an underscore", "page", "page=1_000"),
    query("page in other digits", "page", "page=%D9%A3"),
    query("page of 5,000 digits", "page", "page=" + "9" * 5000),
    query("page with NUL", "page", "page=1%00"),
    query("page twice", "page", "page=1&page=2"),
    query("search in no encoding", "search", "search=%FF"),
    query("search with half a surrogate pair", "search", "search=%ED%A0%80"),
    query("status empty", "status", "status="),
    query("status twice", "status", "status=active&status=draft"),
    query("sort with a minus", "sort", "sort=-name"),
    query("search with NUL", "search", "search=a%00b"),
    query("a parameter without a value", "verbose", "verbose"),
    query("two unknown parameters", "a b", "a=1&b=2"),
    query("bbox of five", "bbox", "bbox=1,2,3,4,5"),
    query("bbox with a word", "bbox", "bbox=1,2,3,north"),
    query("bbox with spaces", "bbox", "bbox=1,%202,3,4"),
    query("bbox with NaN", "bbox", "bbox=nan,0,1,1"),
    query("bbox past all doubles", "bbox", "bbox=0,0,1e999,1"),
    query("bbox past the pole", "bbox", "bbox=0,0,1,91"),
    query("bbox upside down", "bbox", "bbox=0,1,1,0"),
    query("bbox twice", "bbox", "bbox=0,0,1,1&bbox=2,2,3,3"),
    query("type of assets with a slash", "type", "type=a%2Fb", ASSETS),
    query("status of assets with two spaces", "status", "status=in%20%20use", ASSETS),
    query("bbox of assets", "bbox", "bbox=0,0,1", ASSETS),
    Bad("a parameter when creating", "POST", f"{PROJECTS}?draft=1", 400, "draft", {"name": "A"}),
    Bad("a parameter when changing", "PUT", f"{PROJECT}?force=1", 400, "force", {}),
    Bad("a parameter when deleting", "DELETE", f"{PROJECT}?force=1", 400, "force"),
]
