"""What an instance answers to every GET of its API, and how two such answers differ."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import quote

Answer = dict[str, Any]  # status, and what the body says
Answers = dict[str, Answer]  # by path and query
Get = Callable[[str], Answer]

# Paths of the description that say nothing of what is stored, or are archives of files with the
# time at which they were made.
LEFT_OUT = frozenset({"/v1/openapi.json", "/v1/event-types", "/v1/account/export"})
# Asked at the end only, when counts of requests are written.
COUNTS = ("/v1/account/usage", "/v1/account/usage/requests")
# Formats of files that are no text, or say when they were made.
NO_TEXT = frozenset({"gpkg", "shp", "gpx"})
MOST_VALUES = 10  # of a parameter: of longer enumerations, no value is asked for
QUERIES = {
    "/v1/projects": ("search=wald", "bbox=9,49,12,52", "slug=alder-creek"),
    "/v1/projects/map": ("bbox=-180,-85,180,85&zoom=3", "bbox=9,49,12,52&zoom=6"),
    "/v1/assets": ("search=tower", "type=monitoring_station"),
}
# Not in the description of the API, but read by programs.
OGC = tuple(f"/ogc/collections/{name}/items?limit=100&f=json" for name in ("projects", "assets"))
NEW_EACH_TIME = frozenset({"request_id", "timestamp", "timeStamp"})


class Difference(NamedTuple):
    """A field of an answer that is not as it was; ``MISSING`` where it is not there."""

    path: str
    field: str  # as in data[0].name
    then: Any
    now: Any


MISSING = "(missing)"


def read(status: int, mimetype: str, content: bytes) -> Answer:
    """What a response says, without what is new each time."""
    if "json" not in mimetype or "seq" in mimetype or "ndjson" in mimetype:
        return {"status": status, "body": content.decode()}
    return {"status": status, "body": _lasting(json.loads(content))}


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _lasting(each) for name, each in value.items() if name not in NEW_EACH_TIME}
    return [_lasting(each) for each in value] if isinstance(value, list) else value


def is_recorded(path: str) -> bool:
    """Whether requests for it are recorded in the audit log."""
    return path.startswith(("/v1/exports/", "/ogc/"))


def ask_everything(
    get: Get, description: Mapping[str, Any], *, recorded: bool, in_all_ways: bool
) -> Answers:
    """Each GET that the description of the API has, with the ids that the lists have, and all
    pages. Only what is answered 200 is kept.

    Args:
        recorded: ask for what is recorded in the audit log, or for everything else.
        in_all_ways: ask with each value of short enumerations, too.
    """
    found: Answers = {}

    def ask(path: str) -> Answer:
        if path not in found:
            found[path] = get(path)
        return found[path]

    for template, operations in description["paths"].items():
        is_asked = "get" in operations and is_recorded(template) == recorded
        if not is_asked or template in LEFT_OUT or template in COUNTS:
            continue
        queries = [*_queries(description, template), *QUERIES.get(template, ())]
        queries = queries if in_all_ways else queries[:1]
        for path in _with_ids(template, ask):
            for query in queries:
                ask(_joined(path, query, by="?"))
            if queries[0]:
                _ask_further_pages(f"{path}?{queries[0]}", ask)
    for path in OGC if recorded else ():
        ask(path)
    return {path: answer for path, answer in found.items() if answer["status"] == 200}


def _queries(description: Mapping[str, Any], template: str) -> list[str]:
    operations = description["paths"][template]
    given = [*operations.get("parameters", []), *operations["get"].get("parameters", [])]
    parameters = {each["name"]: each for each in (_resolved(description, one) for one in given)}
    base = "per_page=100" if "per_page" in parameters else ""
    found = [base]
    for name, parameter in parameters.items():
        values = _resolved(description, parameter.get("schema", {})).get("enum", ())
        if (template, name) == ("/v1/audit-log", "format"):
            continue  # an export, which is recorded; the test verifies the log
        if parameter["in"] == "query" and len(values) <= MOST_VALUES:
            found += [_joined(base, f"{name}={quote(str(v))}") for v in values if v not in NO_TEXT]
    return found


def _resolved(description: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in part:
        return part
    found: Any = description
    for name in part["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return found  # type: ignore[no-any-return]


def _joined(*parts: str, by: str = "&") -> str:
    return by.join(part for part in parts if part)


def _with_ids(template: str, ask: Get) -> Iterator[str]:
    """The paths of a template, with the ids that the lists above it have."""
    if "{" not in template:
        yield template
        return
    above, _, rest = template.partition("/{")
    below = rest.partition("}")[2]
    listed = ask(f"{above}?per_page=100")
    if listed["status"] != 200:
        listed = ask(above)
    for item in listed["body"].get("data", ()) if listed["status"] == 200 else ():
        if "id" in item:
            yield from _with_ids(f"{above}/{item['id']}{below}", ask)


def _ask_further_pages(path: str, ask: Get) -> None:
    for page in count(2):
        meta = ask(path)["body"]
        if not isinstance(meta, dict) or page > meta.get("meta", {}).get("total_pages", 1):
            return
        ask(f"{path}&page={page}")


def differences(path: str, then: Any, now: Any, field: str = "") -> Iterator[Difference]:
    """Each field of an answer that is not as it was."""
    if isinstance(then, dict) and isinstance(now, dict):
        for name in then | now:
            inner = f"{field}.{name}" if field else name
            yield from differences(path, then.get(name, MISSING), now.get(name, MISSING), inner)
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for number, (before, after) in enumerate(zip(then, now, strict=True)):
            yield from differences(path, before, after, f"{field}[{number}]")
    elif then != now or type(then) is not type(now):
        yield Difference(path, field, then, now)


def without_numbers(text: str) -> str:
    """A path or a field without ids and places: one line then stands for all items of a list."""
    return re.sub(r"\[\d+\]", "[]", re.sub(r"/[a-z]+_[0-9a-z]{26}", "/{id}", text))
