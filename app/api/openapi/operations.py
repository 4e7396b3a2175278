"""The OpenAPI description of an operation, derived from the contract that runs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import marshmallow as ma

from app.api.openapi.components import EVERYWHERE, OAUTH, REFUSALS, SECURITY, header_refs
from app.api.openapi.geojson import FORMAT, GEOJSON
from app.api.openapi.schemas import content_type_of, example_of, is_tagged
from app.auth.guard import ANY_CREDENTIAL, OR
from app.policy.files import BINARY
from app.policy.permissions import PERMISSIONS, PROFILE, SCOPES

REPEATABLE: Final = ("POST", "PUT", "PATCH")  # with an Idempotency-Key
_UPDATE: Final = (
    "`PUT` and `PATCH` do the same: the fields that you send change, the others stay as they are."
)
# Only said: of two types of a body, some generators of clients always send the last.
_MERGE: Final = (
    " A `PATCH` with `Content-Type: application/merge-patch+json` (RFC 7396) merges `metadata` "
    "into the stored ones: `null` removes a key, and the keys that you leave out stay."
)


class Contract(NamedTuple):
    """The contract of an operation, as ``ApiBlueprint.operation`` declares it.

    Attributes:
        refusals: the components of error responses that differ from the usual ones, by status.
        files: the beginning of a file of each media type.
    """

    method: str
    path: str
    needs: str
    gives: tuple[int, type[ma.Schema] | None]
    takes: type[ma.Schema] | None
    conflicts: bool
    conditional: bool
    of_some_projects: bool
    refusals: dict[int, str]
    geojson: type[ma.Schema] | None
    files: dict[str, str]

    @property
    def operation(self) -> str:
        """The operation as in ``app.policy.deprecations``: ``GET /v1/projects/{id}``."""
        path = re.sub(r"<(?:[^:<>]++:)?([^<>]++)>", r"{\1}", self.path)
        return f"{self.method} {path}"

    @property
    def takes_file(self) -> bool:
        return is_form(self.takes)

    @property
    def repeatable(self) -> bool:
        return self.method in REPEATABLE

    @property
    def tagged(self) -> bool:
        return self.method == "GET" and is_tagged(self.gives[1])


def contract_of(view: Any) -> Contract | None:
    """Return the contract of a view function; None if it is not one of an ``ApiBlueprint``."""
    contract: Contract | None = getattr(view, "_apidoc", {}).get("contract")
    return contract


def describe_operation(blueprint: Any, run: Callable[..., Any], contract: Contract) -> None:
    """Document ``run``: statuses, headers, parameters, security, permission.

    flask-smorest's decorators would also wrap the view to serialize its result. Views return
    finished responses here, so only the notes of the decorators are used.
    """
    status, schema = contract.gives
    documented = blueprint.doc(
        operationId=run.__name__,
        responses=_refusal_responses(contract),
        security=_security_requirements(contract.needs),
        **{"x-permission": contract.needs},
    )(run)
    named = header_refs(*_success_headers(contract))
    example = None if schema is None else example_of(schema)
    notes = blueprint.response(
        status, schema, content_type=content_type_of(schema), headers=named, example=example
    )(documented)._apidoc
    notes.get("arguments", {}).pop("responses", None)  # a wrong query is 400 here, not 422
    run._apidoc = notes | {"contract": contract}  # type: ignore[attr-defined]


def finish_operation(
    document: dict[str, Any], notes: dict[str, Any], *, method: str, **_: Any
) -> dict[str, Any]:
    """Add to an operation what flask-smorest cannot express: header parameters, the permission, a
    second form of the body, and another id for PATCH, which is the same operation as PUT."""
    contract: Contract = notes["contract"]
    if method == "patch":
        about = notes["manual_doc"]
        about["operationId"] = about["operationId"].replace("update", "patch", 1)
    if contract.takes is not None and is_form(contract.takes):
        content = document["requestBody"]["content"]
        form = content.pop("application/x-www-form-urlencoded")
        content["multipart/form-data"] = form | {"example": example_of(contract.takes)}
    if (also := getattr(contract.takes, "also", None)) is not None:
        content = document["requestBody"]["content"]["application/json"]
        content["schema"] = {"oneOf": [content["schema"], also]}
    if contract.geojson or contract.files:
        success = document["responses"][contract.gives[0]]
        success["content"] = success.get("content", {}) | _other_contents(contract)
    document.setdefault("parameters", []).extend(_other_parameters(document, contract))
    text = [notes["docstring"].get("description", ""), _update_sentences(contract)]
    text += [_permission_sentence(contract.needs)]
    notes["docstring"]["description"] = "\n\n".join(filter(None, text))
    return document


def _update_sentences(contract: Contract) -> str:
    if contract.method != "PUT":
        return ""
    has_metadata = "metadata" in getattr(contract.takes, "_declared_fields", ())
    return f"{_UPDATE}{_MERGE}" if has_metadata else _UPDATE


def is_form(takes: type[ma.Schema] | None) -> bool:
    """True if a body is a form with several parts, one of them a file."""
    return bool(getattr(takes, "is_form", False))


def _other_contents(contract: Contract) -> dict[str, Any]:
    """The formats of a success besides JSON, by media type."""
    # First, as generators of clients decide by the first type that they know.
    files = {BINARY: ""} if contract.gives[1] is None and contract.files else {}
    contents: dict[str, Any] = {
        media_type: {"schema": {"type": "string", "format": "binary"}, "example": beginning}
        for media_type, beginning in (files | contract.files).items()
    }
    if (schema := contract.geojson) is not None:
        contents[GEOJSON] = {"schema": schema, "example": example_of(schema)}
    return contents


def path_parameters(path: str) -> list[dict[str, Any]]:
    """The description of the ids that a rule names."""
    return [
        {
            "in": "path",
            "name": name,
            "required": True,
            "description": f"The id of the {name.removesuffix('_id')}.",
            "schema": {"type": "string", "minLength": 1},
        }
        for name in re.findall(r"<(?:\w+:)?(\w+)>", path)
    ]


def _permission_sentence(needs: str) -> str:
    """The sentence about the permission of an operation."""
    if needs == ANY_CREDENTIAL:
        return "Works with any valid credential."
    if needs == PROFILE:
        return "Works with any valid credential; an OAuth token needs the scope `profile`."
    sentences = (f"`{name}` ({PERMISSIONS[name].lower()})" for name in needs.split(OR))
    return f"Requires the permission {OR.join(sentences)}."


def _refusal_responses(contract: Contract) -> dict[str, Any]:
    """The responses other than success, by status."""
    refused = {400, 401, 413, 415, 429, 500, 503}
    refused |= {403} if contract.needs != ANY_CREDENTIAL else set()
    refused |= {404} if "<" in contract.path else set()
    refused |= {409} if contract.conflicts or contract.repeatable else set()
    refused |= {412} if contract.conditional else set()
    refused |= {422} if contract.method != "GET" else set()
    names = {code: REFUSALS[code].__name__ for code in sorted(refused)} | contract.refusals
    responses: dict[str, Any] = {str(code): name for code, name in names.items()}
    if contract.tagged:
        responses["304"] = {
            "description": "Not modified",
            "headers": header_refs(
                *EVERYWHERE, "ETag", "Cache-Control", "Link", *_poll_headers(contract)
            ),
        }
    return responses


def _other_parameters(document: dict[str, Any], contract: Contract) -> list[Any]:
    """The parameters outside schemas: headers, and ``format`` if it is the only parameter."""
    has_query = any(row["in"] == "query" for row in document.get("parameters", []))
    is_missing = contract.geojson is not None and not has_query
    return [*([FORMAT] if is_missing else []), *_header_parameters(contract)]


def _header_parameters(contract: Contract) -> list[str]:
    names = ["X-Request-Id"]
    names += ["If-None-Match"] if contract.tagged else []
    names += ["If-Match"] if contract.conditional else []
    return names + (["Idempotency-Key"] if contract.repeatable else [])


def _success_headers(contract: Contract) -> list[str]:
    status, schema = contract.gives
    names = [*EVERYWHERE]
    names += ["Idempotency-Replayed"] if contract.repeatable else []
    names += ["ETag", "Cache-Control"] if is_tagged(schema) else []
    names += ["Location"] if status in (201, 202) else []
    names += ["Cache-Control", "Content-Disposition"] if contract.files else []
    names += ["Link"] if getattr(schema, "paged", False) else []
    return [*names, *_poll_headers(contract)]


def _poll_headers(contract: Contract) -> list[str]:
    """The header of what a worker may still be busy with."""
    return ["Retry-After"] if getattr(contract.gives[1], "polled", False) else []


def _security_requirements(needs: str) -> list[dict[str, list[str]]]:
    """The credentials of an operation; OAuth tokens with the required scope."""
    choices: list[dict[str, list[str]]] = [{name: []} for name in SECURITY]
    if scopes := [name for name in needs.split(OR) if name in SCOPES]:
        return [*choices, *({OAUTH: [scope]} for scope in scopes)]
    return [*choices, {OAUTH: []}] if needs == ANY_CREDENTIAL else choices
