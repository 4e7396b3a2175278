"""The blueprint of /v1: one decorator says an operation's whole contract.

``operation`` fixes the order in which every request is judged, so that no route can get it wrong:
the body's size and type, who is asking and how often (all before the route), then the permission,
a kept response of the same request, the resource, the parameters and the body, and last the change
itself with its commit. ``docs/request-flow.md`` follows one request through it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

import marshmallow as ma
from flask import Response, g, request
from flask_smorest import Blueprint
from sqlalchemy.exc import SQLAlchemyError

from app.api import idempotency
from app.api.error_handlers import as_api_error, render
from app.api.feature_schemas import geojson_of
from app.api.idempotency import IdempotentRequest, StillRunning
from app.api.media_types import PARAMETER
from app.api.openapi.components import CanopyApi
from app.api.openapi.operations import Contract, describe, finish, is_form, path_parameters
from app.api.openapi.schemas import example_of
from app.api.parsing import PARSER, refuse_body, refuse_parameters
from app.auth.guard import require, require_project
from app.auth.principal import Principal
from app.db.extensions import db
from app.db.replica import read_from_replica
from app.formats.writers.features import FeatureType
from app.http.errors import ApiError
from app.http.etags import IfMatch
from app.limits.deprecated import noting

View = Callable[..., Response]
Admit = Callable[[Mapping[str, str]], Principal]
Precheck = Callable[..., None]
Prepare = Callable[..., Any]

# Errors that a repeat gets again. 401, 403 and 429 come before a key is looked at; 5xx may pass.
_STORED_ERRORS = frozenset({400, 404, 409, 412, 422})


class ApiBlueprint(Blueprint):  # type: ignore[misc]
    """A resource of /v1."""

    ARGUMENTS_PARSER = PARSER

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._prepare_doc_cbks.append(finish)

    def register_views_in_doc(self, api: CanopyApi, *args: Any, **options: Any) -> None:
        """Leave the description to the moment in which somebody asks for it: it would take nearly
        half of the time of every start."""
        api.undescribed.append(partial(super().register_views_in_doc, api, *args, **options))

    def operation(
        self,
        method: str,
        path: str,
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
        from_replica: bool = False,
        refusals: Mapping[int, str] | None = None,
        features: FeatureType | None = None,
        files: Mapping[str, str] | None = None,
    ) -> Callable[[View], View]:
        """Declare an operation.

        Args:
            method: GET, POST, PUT (PATCH is the same operation) or DELETE.
            path: the rule, below the blueprint's prefix.
            needs: the permission, or ``ANY_CREDENTIAL``.
            gives: the status of success and the schema of its body.
            takes: the schema of the body; the view gets what it holds after the principal.
            query: the schema of the query string; likewise.
            precheck: called with the principal and the path's ids before anything is parsed; raises
                NotFound when what the path names is not there.
            prepare: called like the view, but before the transaction of a change, for what would
                hold up others in it; the view gets what it returns as ``prepared``.
            conflicts: whether the operation can answer 409.
            conditional: whether it heeds If-Match, which the view gets as ``if_match``.
            of_some_projects: whether a credential that is limited to some projects may use an
                operation that is not on one of them; it then gives nothing of others.
            from_replica: whether a replica of the database may be read, where there is one.
            refusals: the components of responses that are refused otherwise than usual, by status.
            features: how a record becomes a Feature, where a client can ask for GeoJSON: with
                ``Accept``, or with the parameter ``format`` that the operation has besides.
            files: the media types of success that are files, each with the beginning of one.

        The view is called as ``view(principal, [loaded], [if_match=…], [prepared=…], **path_ids)``.
        """

        contract = Contract(
            method,
            f"{self.url_prefix or ''}{path}",
            needs,
            gives,
            takes,
            conflicts,
            conditional,
            dict(refusals or {}),
            geojson_of(gives[1], features) if features else None,
            dict(files or {}),
        )

        def admit(ids: Mapping[str, str]) -> Principal:
            principal = require(needs)
            if "project_id" in ids or not of_some_projects:
                require_project(principal, ids.get("project_id"))
            return principal

        def decorate(view: View) -> View:
            if method == "GET":
                known = PARAMETER if features else ""
                read = _with_features(self._with_query(view, query, known), features)
                run = _read(read, admit, precheck, from_replica)
            else:
                change = _committed(_with_if_match(view) if conditional else view)
                change = change if prepare is None else _prepared(change, prepare)
                run = _change(self._with_body(change, takes), admit, precheck)
            run = noting(run, method, contract.path)
            run.permission = needs  # type: ignore[attr-defined]
            run.of_some_projects = of_some_projects  # type: ignore[attr-defined]
            run.takes_file = is_form(takes)  # type: ignore[attr-defined]
            describe(self, run, contract)
            methods = ["PUT", "PATCH"] if method == "PUT" else [method]
            named = path_parameters(contract.path)
            self.route(path, parameters=named, methods=methods, provide_automatic_options=False)(
                run
            )
            return view

        return decorate

    def _with_query(self, view: View, query: type[ma.Schema] | None, known: str) -> View:
        """A reading ``view`` behind the parsing of its query string. Without a schema it reads the
        parameter ``known`` itself, if any."""
        if query is not None:
            return self.arguments(query(), location="query")(view)  # type: ignore[no-any-return]

        @wraps(view)
        def without_parameters(*args: Any, **ids: str) -> Response:
            response = view(*args, **ids)  # first, as what is absent is 404 whatever else is wrong
            refuse_parameters(request, but=known)
            return response

        return without_parameters

    def _with_body(self, view: View, takes: type[ma.Schema] | None) -> View:
        """A changing ``view`` behind the parsing of its body."""
        if takes is not None:
            required = not getattr(takes, "may_be_absent", False)
            location = "form" if is_form(takes) else "json"
            documented = {"example": example_of(takes), "required": required}
            view = self.arguments(takes(), location=location, **documented)(view)

        @wraps(view)
        def without_parameters(*args: Any, **ids: str) -> Response:
            refuse_parameters(request)
            if takes is None:
                refuse_body(request)
            return view(*args, **ids)

        return without_parameters


def _with_features(view: View, features: FeatureType | None) -> View:
    """``view``, whose response ``app.api.envelope`` writes as GeoJSON if the client wants that."""
    if features is None:
        return view

    @wraps(view)
    def run(*args: Any, **ids: str) -> Response:
        g.features = features
        return view(*args, **ids)

    return run


def _read(view: View, admit: Admit, precheck: Precheck | None, from_replica: bool) -> View:
    """An operation that only reads."""

    @wraps(view)
    def run(**ids: str) -> Response:
        principal = admit(ids)

        def read() -> Response:
            if precheck is not None:
                precheck(principal, **ids)
            return view(principal, **ids)

        return read_from_replica(read) if from_replica else read()

    return run


def _change(view: View, admit: Admit, precheck: Precheck | None) -> View:
    """An operation that writes: what was answered before is answered again, refusals are kept."""

    @wraps(view)
    def run(**ids: str) -> Response:
        principal = admit(ids)
        g.idempotent = idempotent = idempotency.read_key(principal)
        if idempotent is not None and (response := idempotent.stored_response()) is not None:
            return response
        try:
            if precheck is not None:
                precheck(principal, **ids)
            return view(principal, **ids)
        except (ApiError, SQLAlchemyError) as error:
            return _refuse(error, idempotent)

    return run


def _with_if_match(view: View) -> View:
    """``view`` with the precondition that the request states, if it states any."""

    @wraps(view)
    def run(*args: Any, **ids: str) -> Response:
        return view(*args, if_match=IfMatch(request.headers.get("If-Match")), **ids)

    return run


def _prepared(view: View, prepare: Prepare) -> View:
    """``view`` after what is done before its transaction."""

    @wraps(view)
    def run(*args: Any, **ids: str) -> Response:
        return view(*args, prepared=prepare(*args, **ids), **ids)

    return run


def _committed(view: View) -> View:
    """``view`` in a transaction that is committed with its response, or not at all."""

    @wraps(view)
    def run(*args: Any, **ids: str) -> Response:
        idempotent: IdempotentRequest | None = g.idempotent
        if idempotent is not None and not idempotent.claim():
            db.session.rollback()
            return idempotent.stored_response() or render(StillRunning())
        response = view(*args, **ids)
        if idempotent is not None:
            idempotent.store(response)
        db.session.commit()
        return response

    return run


def _refuse(error: ApiError | SQLAlchemyError, idempotent: IdempotentRequest | None) -> Response:
    """The response to a failed change, kept when a repeat shall get it again."""
    db.session.rollback()
    refusal = error if isinstance(error, ApiError) else as_api_error(error)
    if refusal is None:
        raise error
    response = render(refusal)
    if idempotent is None or not _is_stored(refusal):
        return response
    if idempotent.claim():
        idempotent.store(response)
        db.session.commit()
    return response


def _is_stored(refusal: ApiError) -> bool:
    return refusal.status in _STORED_ERRORS and not isinstance(refusal, StillRunning)
