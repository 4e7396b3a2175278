"""The tools of the model. They read what the caller may read, and change nothing.

A tool has the permission and the service of the route of /v1 that reads the same. Its result is
JSON, and so is an error, ``{error}``, which the model can correct or report.
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

_OTHER_BYTES: Final = 2_000  # reserved in a result beside its records or its description
_LONG_TEXTS: Final = [field.name for field in PROJECT if field.longest > chat.EXCERPT_LENGTH]
_PROJECT_ID: Final = {"description": "`id` of a project."}
_ASSET_ID: Final = {"description": "`id` of an asset."}


class PageArguments(InputSchema):
    """A page of a list."""

    page = fields.Integer(
        strict=True, validate=validate.Range(1, request_limits.PAGE_MAX), load_default=1
    )
    per_page = fields.Integer(
        strict=True, validate=validate.Range(1, chat.PER_PAGE), load_default=chat.PER_PAGE
    )


class ProjectsArguments(PageArguments):
    """Filters and the order of projects."""

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
    """Filters of the assets of a project."""

    class Meta(PageArguments.Meta):
        include = filter_fields(ASSET)

    search = Text(
        longest=request_limits.SEARCH_LENGTH,
        metadata={"description": "Part of the name or the external id, in any case."},
    )


class AssetArguments(ProjectArguments):
    """One asset of a project."""

    asset_id = Text(shortest=1, longest=request_limits.ID_LENGTH, required=True, metadata=_ASSET_ID)


class NoArguments(InputSchema):
    """No arguments."""


class Tool(NamedTuple):
    """A tool. The first line of the docstring of ``run`` is its description for the model."""

    permission: str
    arguments: type[ma.Schema]
    run: Callable[..., Record]


def call_tool(principal: Principal, name: str, arguments: str) -> str:
    """Call a tool. Returns its result or its error, as JSON of at most ``chat.RESULT_BYTES``.

    Args:
        name: the name that the model wrote, perhaps of no tool.
        arguments: the text that the model wrote, perhaps no JSON.
    """
    tool = TOOLS.get(name)
    if tool is None:
        return tool_error(f"Unknown tool. The tools are {', '.join(TOOLS)}.")
    if not principal.may(tool.permission):
        return tool_error(f"The caller's credential lacks the permission {tool.permission}.")
    try:
        result = dumps(tool.run(principal, **_read_arguments(tool.arguments, arguments)))
    except ma.ValidationError as error:
        return tool_error(f"The arguments are not valid: {error.normalized_messages()}")  # type: ignore[no-untyped-call]
    except NotFound as error:
        return tool_error(error.message)
    if len(result) > chat.RESULT_BYTES:
        return tool_error("The record is too large to be shown here.")
    return result.decode()


def tool_error(message: str) -> str:
    """Return an error as the result of a call; a long message is cut."""
    return dumps({"error": _cut_text(message, 1_000)}).decode()


def _read_arguments(schema: type[ma.Schema], arguments: str) -> Record:
    """Load arguments as strictly as a query. Raises marshmallow.ValidationError."""
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
    return _fitting_page("projects", map(_project_in_list, records), total, query)


def _read_project(principal: Principal, project_id: str) -> Record:
    """Read one project with its whole description; of its boundary hectares and bounding box."""
    require_project(principal, project_id)
    record = summarize_project(principal.account_id, project_id)
    record["description"] = _fitted_description(record["description"])
    return record


def _list_assets(principal: Principal, project_id: str, **arguments: Any) -> Record:
    """List the assets of one project, a page at a time: name, type, status, location."""
    check_project(principal, project_id)
    query = asset_query(**arguments)
    records, total = list_assets(principal.account_id, project_id, query)
    return _fitting_page("assets", map(_asset_in_list, records), total, query)


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


def _read_usage(principal: Principal) -> Record:
    """Read what the account uses in this calendar month, and what its plan allows."""
    return {"plan": principal.plan} | usage_statistics(principal.account_id, principal.plan)


TOOLS: Final[dict[str, Tool]] = {
    "list_projects": Tool("projects:read", ProjectsArguments, _list_projects),
    "read_project": Tool("projects:read", ProjectArguments, _read_project),
    "summarize_projects": Tool("projects:read", NoArguments, _summarize_projects),
    "list_assets": Tool("assets:read", AssetsArguments, _list_assets),
    "read_asset": Tool("assets:read", AssetArguments, _read_asset),
    "summarize_assets": Tool("assets:read", NoArguments, _summarize_assets),
    "usage": Tool("billing:read", NoArguments, _read_usage),
}


def _fitting_page(name: str, records: Iterable[Record], total: int, query: Any) -> Record:
    """Return the records of a page that fit, with a note on how to read the others."""
    fitting: list[Fragment] = []
    left_out, size = 0, _OTHER_BYTES
    for record in records:
        text = dumps(record)
        size += len(text) + 1
        if size > chat.RESULT_BYTES:
            left_out += 1
        else:
            fitting.append(Fragment(text))
    pages: Record = {"total": total, "page": query.page, "total_pages": -(-total // query.per_page)}
    if left_out:
        per_page = max(len(fitting), 1)
        pages["note"] = (
            f"The last {left_out} of this page did not fit. Ask with per_page {per_page}."
        )
    return {name: fitting, **pages}


def _project_in_list(record: Record) -> Record:
    for name in _LONG_TEXTS:
        if record[name]:
            record[name] = _cut_text(record[name], chat.EXCERPT_LENGTH)
    return record


def _asset_in_list(record: Record) -> Record:
    """Replace large metadata by their size."""
    size = len(dumps(record["metadata"]))
    if size > chat.METADATA_BYTES:
        record["metadata"] = f"{size:,} bytes; read_asset has them."
    return record


def _cut_text(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _fitted_description(text: str | None) -> str | None:
    """Cut a description to what fits into a result."""
    while text and (size := len(dumps(text))) > chat.RESULT_BYTES - _OTHER_BYTES:
        text = text[: len(text) * (chat.RESULT_BYTES - _OTHER_BYTES) // size - 1] + "…"
    return text


def _tool_description(name: str, tool: Tool) -> Mapping[str, Any]:
    """Describe a tool in the chat-completions protocol."""
    converter = OpenAPIConverter("3.1.0", lambda _: None, None)  # type: ignore[arg-type]
    function = {
        "name": name,
        "description": (tool.run.__doc__ or "").partition("\n")[0],
        "parameters": converter.schema2jsonschema(tool.arguments()),  # type: ignore[no-untyped-call]
    }
    return {"type": "function", "function": function}


DESCRIPTIONS: Final = [_tool_description(name, tool) for name, tool in TOOLS.items()]
