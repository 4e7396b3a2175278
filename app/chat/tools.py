"""The tools of the model. They read what the caller may read, and nothing else.

A tool is a name that the model knows, the permission of the route of /v1 that reads the same, and
the service behind that route. None of them changes anything. A result is JSON; so is an error,
``{error}``, for the model to correct itself or to report to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

import marshmallow as ma
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import fields, validate

from app.api.resource_schemas import filter_fields
from app.assets.listing import asset_query, list_assets
from app.assets.service import read_asset
from app.assets.summaries import summarize_assets
from app.auth.guard import require_project
from app.auth.principal import Principal
from app.http.errors import NotFound
from app.policy import chat, request_limits
from app.policy.fields import ASSET, PROJECT
from app.projects.listing import list_projects, project_query
from app.projects.lookup import check_project
from app.projects.summaries import summarize_project, summarize_projects
from app.usage.statistics import usage_statistics
from app.values.schemas import InputSchema, Text
from app.values.strict_json import Fragment, JsonInvalid, dumps, loads

Record = dict[str, Any]

_OTHER_BYTES: Final = 2_000  # of a result, beside its records or its description
_LONG_TEXTS: Final = [field.name for field in PROJECT if field.longest > chat.EXCERPT_LENGTH]
_PROJECT_ID: Final = {"description": "`id` of a project."}
_ASSET_ID: Final = {"description": "`id` of an asset."}


class PageArguments(InputSchema):
    """Which page of a list."""

    page = fields.Integer(
        strict=True, validate=validate.Range(1, request_limits.PAGE_MAX), load_default=1
    )
    per_page = fields.Integer(
        strict=True, validate=validate.Range(1, chat.PER_PAGE), load_default=chat.PER_PAGE
    )


class ProjectsArguments(PageArguments):
    """Which projects, and in which order."""

    class Meta(PageArguments.Meta):
        include = filter_fields(PROJECT)

    search = Text(
        longest=request_limits.SEARCH_LENGTH,
        metadata={"description": "Part of the name, the description or the external id."},
    )
    sort = fields.String(
        validate=validate.OneOf(request_limits.PROJECT_SORTS), load_default="created_at"
    )
    order = fields.String(
        validate=validate.OneOf(("asc", "desc")),
        metadata={"description": "Without it: newest first by `created_at`, else ascending."},
    )


class ProjectArguments(InputSchema):
    """One project."""

    project_id = Text(
        shortest=1, longest=request_limits.ID_LENGTH, required=True, metadata=_PROJECT_ID
    )


class AssetsArguments(PageArguments, ProjectArguments):
    """Which assets of a project; the newest first."""

    class Meta(PageArguments.Meta):
        include = filter_fields(ASSET)

    search = Text(
        longest=request_limits.SEARCH_LENGTH,
        metadata={"description": "Part of the name or the external id, in any case."},
    )


class AssetArguments(ProjectArguments):
    """One asset of a project."""

    asset_id = Text(shortest=1, longest=request_limits.ID_LENGTH, required=True, metadata=_ASSET_ID)


class Nothing(InputSchema):
    """No arguments."""


class Tool(NamedTuple):
    """A tool; the first line of the docstring of ``gives`` is its description for the model."""

    needs: str
    takes: type[ma.Schema]
    gives: Callable[..., Record]


def call(principal: Principal, name: str, arguments: str) -> str:
    """The result of a tool, or its error, as JSON of at most ``chat.RESULT_BYTES``.

    Args:
        name: a tool as the model names it; it may name one that does not exist.
        arguments: JSON as the model wrote it, or whatever else it wrote.
    """
    tool = TOOLS.get(name)
    if tool is None:
        return failure(f"Unknown tool. The tools are {', '.join(TOOLS)}.")
    if not principal.may(tool.needs):
        return failure(f"The caller's credential lacks the permission {tool.needs}.")
    try:
        result = dumps(tool.gives(principal, **_read(tool.takes, arguments)))
    except ma.ValidationError as error:
        return failure(f"The arguments are not valid: {error.normalized_messages()}")  # type: ignore[no-untyped-call]
    except NotFound as error:
        return failure(error.message)
    if len(result) > chat.RESULT_BYTES:
        return failure("The record is too large to be shown here.")
    return result.decode()


def failure(message: str) -> str:
    """The result of a call that gives nothing; a long message is cut."""
    return dumps({"error": _cut(message, 1_000)}).decode()


def _read(schema: type[ma.Schema], arguments: str) -> Record:
    """The arguments, as strictly as a query. Raises marshmallow.ValidationError."""
    if len(arguments) > chat.ARGUMENTS_LENGTH:
        raise ma.ValidationError(f"Longer than {chat.ARGUMENTS_LENGTH:,} characters.")
    try:
        loaded: Record = schema().load(loads(arguments.encode(errors="surrogatepass") or b"{}"))
    except JsonInvalid:
        raise ma.ValidationError("Not a JSON object.") from None
    return loaded


def _list_projects(principal: Principal, **arguments: Any) -> Record:
    """List projects, a page at a time: name, status, hectares, bounding box, start of the text."""
    query = project_query(**arguments, within=principal.project_ids)
    records, total = list_projects(principal.account_id, query, boundaries=False)
    return _page("projects", map(_project_in_list, records), total, query)


def _read_project(principal: Principal, project_id: str) -> Record:
    """Read one project with its whole description; of its boundary hectares and bounding box."""
    require_project(principal, project_id)
    record = summarize_project(principal.account_id, project_id)
    record["description"] = _fitted(record["description"])
    return record


def _list_assets(principal: Principal, project_id: str, **arguments: Any) -> Record:
    """List the assets of one project, a page at a time: name, type, status, location."""
    check_project(principal, project_id)
    query = asset_query(**arguments)
    records, total = list_assets(principal.account_id, project_id, query)
    return _page("assets", map(_asset_in_list, records), total, query)


def _read_asset(principal: Principal, project_id: str, asset_id: str) -> Record:
    """Read one asset of a project with all of its metadata."""
    require_project(principal, project_id)
    return read_asset(principal.account_id, project_id, asset_id)


def _summarize_projects(principal: Principal) -> Record:
    """Count all projects and their hectares by status."""
    return summarize_projects(principal)


def _summarize_assets(principal: Principal) -> Record:
    """Count the assets of all projects together, by type and status."""
    return summarize_assets(principal)


def _usage(principal: Principal) -> Record:
    """Read what the account uses in this calendar month, and what its plan allows."""
    return {"plan": principal.plan} | usage_statistics(principal.account_id, principal.plan)


TOOLS: Final[dict[str, Tool]] = {
    "list_projects": Tool("projects:read", ProjectsArguments, _list_projects),
    "read_project": Tool("projects:read", ProjectArguments, _read_project),
    "summarize_projects": Tool("projects:read", Nothing, _summarize_projects),
    "list_assets": Tool("assets:read", AssetsArguments, _list_assets),
    "read_asset": Tool("assets:read", AssetArguments, _read_asset),
    "summarize_assets": Tool("assets:read", Nothing, _summarize_assets),
    "usage": Tool("billing:read", Nothing, _usage),
}


def _page(name: str, records: Iterable[Record], total: int, query: Any) -> Record:
    """A page of a list: as many of its records as fit, and how to read the others."""
    kept: list[Fragment] = []
    left_out, size = 0, _OTHER_BYTES
    for record in records:
        text = dumps(record)
        size += len(text) + 1
        if size > chat.RESULT_BYTES:
            left_out += 1
        else:
            kept.append(Fragment(text))
    pages = {"total": total, "page": query.page, "total_pages": -(-total // query.per_page)}
    if left_out:
        note = (
            f"The last {left_out} of this page did not fit. Ask with per_page {max(len(kept), 1)}."
        )
        return {name: kept, **pages, "note": note}
    return {name: kept, **pages}


def _project_in_list(record: Record) -> Record:
    for name in _LONG_TEXTS:
        if record[name]:
            record[name] = _cut(record[name], chat.EXCERPT_LENGTH)
    return record


def _asset_in_list(record: Record) -> Record:
    """Small metadata stays; larger ones are replaced by their size."""
    size = len(dumps(record["metadata"]))
    if size > chat.METADATA_BYTES:
        record["metadata"] = f"{size:,} bytes; read_asset has them."
    return record


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _fitted(text: str | None) -> str | None:
    """A description, cut to what fits into a result."""
    while text and (size := len(dumps(text))) > chat.RESULT_BYTES - _OTHER_BYTES:
        text = text[: len(text) * (chat.RESULT_BYTES - _OTHER_BYTES) // size - 1] + "…"
    return text


def _described(name: str, tool: Tool) -> Mapping[str, Any]:
    """A tool in the form of the chat-completions protocol."""
    converter = OpenAPIConverter("3.1.0", lambda _: None, None)  # type: ignore[arg-type]
    function = {
        "name": name,
        "description": (tool.gives.__doc__ or "").partition("\n")[0],
        "parameters": converter.schema2jsonschema(tool.takes()),  # type: ignore[no-untyped-call]
    }
    return {"type": "function", "function": function}


DESCRIPTIONS: Final = [_described(name, tool) for name, tool in TOOLS.items()]
