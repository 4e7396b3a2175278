"""The blueprint of /v1: one decorator says an operation's whole contract.

``operation`` fixes the order of checks for every request: the size and type of the body, the
credential and the rate limit (all before the route), then the permission, a stored response to the
same request, the resource, the parameters and the body, and last the change with its commit.
``docs/request-flow.md`` follows one request through it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, NamedTuple

import marshmallow as ma
from flask import Response, g, request
from flask_smorest import Blueprint
from sqlalchemy.exc import SQLAlchemyError

from app.api import idempotency
from app.api.deprecations import announce_deprecations
from app.api.error_handlers import as_api_error, render_error
from app.api.feature_schemas import geojson_of
from app.api.idempotency import IdempotentRequest, StillRunning
from app.api.media_types import PARAMETER
from app.api.openapi.components import CanopyApi
from app.api.openapi.operations import (
    Contract,
    describe_operation,
    finish_operation,
    is_form,
    path_parameters,
)
from app.api.openapi.schemas import example_of
from app.api.parsing import PARSER, refuse_body, refuse_parameters
from app.auth.guard import permitted_principal, require_project, set_permission
from app.auth.principal import Principal
from app.db.extensions import db
from app.formats.writers.features import FeatureType
from app.http.errors import ApiError
from app.http.etags import IfMatch

View = Callable[..., Response]
Precheck = Callable[..., None]
Prepare = Callable[..., Any]

# Errors that a repeat gets again. 401, 403 and 429 come before the key; 5xx may pass.
_STORED_ERRORS = frozenset({400, 404, 409, 412, 422})


class ApiBlueprint(Blueprint):  # type: ignore[misc]
    """A resource of /v1.

    Args:
        path: the beginning of its paths.
    """

    ARGUMENTS_PARSER = PARSER

    def __init__(self, name: str, path: str, description: str) -> None:
        super().__init__(name, __name__, url_prefix=path, description=description)
        self._prepare_doc_cbks.append(finish_operation)

    def register_views_in_doc(self, api: CanopyApi, *args: Any, **options: Any) -> None:
        """Postpone describing the operations until the description is requested: it takes nearly
        half of the time of a start."""
        api.undescribed.append(partial(super().register_views_in_doc, api, *args, **options))

    def operation(
        self,
        rule: str,
        *,
        needs: str,
        gives: tuple[int, type[ma.Schema] | None],
        takes: type[ma.Schema] | None = None,
        query: type[ma.Schema] | None = None,
        precheck: Precheck | None = None,
        prepare: Prepare | None = None,
        conflicts: bool = False,
        conditional: bool = False,
        of_some_projects: bool = False,
        refusals: Mapping[int, str] | None = None,
        features: FeatureType | None = None,
        files: Mapping[str, str] | None = None,
    ) -> Callable[[View], View]:
        """Declare an operation.

        Args:
            rule: the method and the path below that of the blueprint, such as ``GET /<id>``. The
                method is GET, POST, PUT (PATCH is the same operation) or DELETE.
            needs: the permission, or ``ANY_CREDENTIAL``.
            gives: the status of success and the schema of its body.
            takes: the schema of the body; the view gets its values after the principal.
            query: the schema of the query string; the view gets its values, too.
            precheck: called with the principal and the path's ids before anything is parsed; raises
                NotFound if the path names nothing.
            prepare: called like the view, but before the transaction of a change, for slow work;
                the view gets its result as ``prepared``.
            conflicts: the operation can respond with 409.
            conditional: it honors If-Match, which the view gets as ``if_match``.
            of_some_projects: a credential that is limited to some projects may use it, although
                the path names none of them; the response then contains nothing of others.
            refusals: the components of error responses that differ from the usual ones, by status.
            features: how a record becomes a Feature, if clients can ask for GeoJSON with ``Accept``
                or the parameter ``format``.
            files: the media types of files in successful responses, with the beginning of each.

        The view is called as ``view(principal, [loaded], [if_match=…], [prepared=…], **path_ids)``.
        """

        method, _, path = rule.partition(" ")
        contract = Contract(
            method,
            f"{self.url_prefix or ''}{path}",
            needs,
            gives,
            takes,
            conflicts,
            conditional,
            of_some_projects,
            dict(refusals or {}),
            geojson_of(gives[1], features) if features else None,
            dict(files or {}),
        )
        schema = takes or query
        parse = _Parser(schema, "query" if query else "form" if is_form(takes) else "json")
        steps = _Steps(contract, contract.operation, parse, precheck, prepare, features)

        def decorate(view: View) -> View:
            run = _reading_view(view, steps) if method == "GET" else _changing_view(view, steps)
            if schema is not None:  # flask-smorest's decorator also parses: only its notes are used
                parts: dict[str, Any] = {"location": parse.location}
                if takes is not None:
                    required = not getattr(takes, "may_be_absent", False)
                    parts |= {"example": example_of(takes), "required": required}
                run._apidoc = self.arguments(parse.schema, **parts)(run)._apidoc  # type: ignore[attr-defined]
            describe_operation(self, run, contract)
            set_permission(run, needs)
            methods = ["PUT", "PATCH"] if method == "PUT" else [method]
            named = path_parameters(contract.path)
            self.route(path, parameters=named, methods=methods, provide_automatic_options=False)(
                run
            )
            return view

        return decorate


class _Parser:
    """Parses the body or the query string of an operation."""

    def __init__(self, schema: type[ma.Schema] | None, location: str) -> None:
        self.schema = None if schema is None else schema()
        self.location = location

    def __call__(self) -> tuple[Any, ...]:
        """Return the values as the argument of a view; empty without a schema."""
        if self.schema is None:
            return ()
        return (PARSER.parse(self.schema, request, location=self.location),)


class _Steps(NamedTuple):
    """The steps of an operation around its view."""

    contract: Contract
    name: str  # such as ``GET /v1/projects/{project_id}``
    parse: _Parser
    precheck: Precheck | None
    prepare: Prepare | None
    features: FeatureType | None

    def admit(self, ids: Mapping[str, str]) -> Principal:
        """Return the caller, who has the permission for the operation and the path."""
        announce_deprecations(self.name)
        principal = permitted_principal(self.contract.needs)
        if "project_id" in ids or not self.contract.of_some_projects:
            require_project(principal, ids.get("project_id"))
        return principal

    def check(self, principal: Principal, ids: Mapping[str, str]) -> None:
        """Raise NotFound if the path names nothing."""
        if self.precheck is not None:
            self.precheck(principal, **ids)


def _reading_view(view: View, steps: _Steps) -> View:
    """Return an operation that only reads."""

    @wraps(view)
    def run(**ids: str) -> Response:
        principal = steps.admit(ids)
        steps.check(principal, ids)
        values = steps.parse()
        g.features = steps.features  # for app.api.envelope
        response = view(principal, *values, **ids)
        if not values:  # after the view: a missing resource is 404, whatever else is wrong
            refuse_parameters(request, but=PARAMETER if steps.features else None)
        return response

    return run


def _changing_view(view: View, steps: _Steps) -> View:
    """Return an operation that writes, in a transaction that is committed with its response.

    A repeat with an Idempotency-Key gets the stored response, also of an error.
    """

    @wraps(view)
    def run(**ids: str) -> Response:
        principal = steps.admit(ids)
        g.idempotent = idempotent = idempotency.read_key(principal)
        if idempotent is not None and (stored := idempotent.stored_response()) is not None:
            return stored
        try:
            steps.check(principal, ids)
            refuse_parameters(request)
            if steps.contract.takes is None:
                refuse_body(request)
            values, options = (principal, *steps.parse()), dict[str, Any](ids)
            if steps.prepare is not None:
                options["prepared"] = steps.prepare(*values, **ids)
            if steps.contract.conditional:
                options["if_match"] = IfMatch(request.headers.get("If-Match"))
            return _commit_with_response(idempotent, partial(view, *values, **options))
        except (ApiError, SQLAlchemyError) as error:
            return _error_response(error, idempotent)

    return run


def _commit_with_response(
    idempotent: IdempotentRequest | None, change: Callable[[], Response]
) -> Response:
    """Make a change in the transaction that also stores its response."""
    if idempotent is not None and not idempotent.claim():
        db.session.rollback()
        return idempotent.stored_response() or render_error(StillRunning())
    response = change()
    if idempotent is not None:
        idempotent.store(response)
    db.session.commit()
    return response


def _error_response(
    error: ApiError | SQLAlchemyError, idempotent: IdempotentRequest | None
) -> Response:
    """Return the response to a failed change, and store it for repeats."""
    db.session.rollback()
    refusal = error if isinstance(error, ApiError) else as_api_error(error)
    if refusal is None:
        raise error
    response = render_error(refusal)
    if idempotent is None or not _is_stored(refusal):
        return response
    if idempotent.claim():
        idempotent.store(response)
        db.session.commit()
    return response


def _is_stored(refusal: ApiError) -> bool:
    return refusal.status in _STORED_ERRORS and not isinstance(refusal, StillRunning)
