"""/v1/imports."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from flask import Response

from app.api import envelope
from app.api.blueprint import ApiBlueprint, View
from app.api.schemas import page_of, single_of
from app.auth.guard import OR
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.imports import checks, listing, service, uploads
from app.imports.record import import_record
from app.imports.schemas import (
    ImportCreateSchema,
    ImportFeatureQuerySchema,
    ImportFeatureSchema,
    ImportQuerySchema,
    ImportSchema,
    ImportSummarySchema,
    ImportUpdateSchema,
)
from app.models import Import
from app.policy.imports import POLL_SECONDS, WORKING
from app.values.records import Record

bp = ApiBlueprint("imports", "/v1/imports", "Files whose features become projects or assets.")
_ONE: Final = "/<import_id>"
_operation: Final = partial(
    bp.operation, needs=f"projects:write{OR}assets:write", of_some_projects=True
)
_IMPORT: Final = single_of(ImportSchema, polled=True)
_PAGE: Final = page_of(ImportSummarySchema)


def _import_operation(method: str, action: str = "", **contract: Any) -> Callable[[View], View]:
    """An operation that changes one import."""
    rule = f"{method} {_ONE}{action}"
    return _operation(rule, precheck=listing.find_import, conflicts=True, **contract)


def _store_file(principal: Principal, values: dict[str, Any]) -> dict[str, str]:
    """Move the file from ``values`` to the database. Returns its name and id."""
    file = values.pop("file")
    checks.check_new_import(principal, **values)
    upload_id = uploads.store_file(principal.account_id, file.stream, transaction)
    return {"filename": file.filename, "upload_id": upload_id}


def _import_response(record: Record, **options: Any) -> Response:
    """The response with an import, which says when to look again if a worker is at it."""
    response = envelope.record_response(record, **options)
    if record["status"] in WORKING:
        response.headers["Retry-After"] = str(POLL_SECONDS)
    return response


def _accepted_response(principal: Principal, import_: Import) -> Response:
    """The response for an import that a worker continues."""
    location = f"/v1/imports/{import_.id}"
    return _import_response(import_record(import_, principal), status=202, location=location)


@_operation("GET", query=ImportQuerySchema, gives=(200, _PAGE))
def list_imports(principal: Principal, values: dict[str, Any]) -> Response:
    """List imports, the newest first."""
    records, total = listing.list_imports(principal, **values)
    return envelope.page_response(
        records, total=total, number=values["page"], size=values["per_page"]
    )


@_operation(
    "POST", takes=ImportCreateSchema, prepare=_store_file, gives=(202, _IMPORT), conflicts=True
)
def create_import(
    principal: Principal, values: dict[str, Any], prepared: dict[str, str]
) -> Response:
    """Import a file.

    The response comes at once; the file is read in the background. Read the import again after the
    seconds in `Retry-After`, until its status is `ready`: it then says what would become of each
    feature, and nothing is written yet.
    `kind=assets` needs only `assets:write`; `kind=projects` needs `projects:write`.
    """
    return _accepted_response(principal, service.create_import(principal, **values, **prepared))


@_operation(f"GET {_ONE}", gives=(200, _IMPORT))
def read_import(principal: Principal, import_id: str) -> Response:
    """Read an import."""
    return _import_response(listing.read_import(principal, import_id))


@_import_operation("PUT", takes=ImportUpdateSchema, gives=(200, _IMPORT))
def update_import(principal: Principal, values: dict[str, Any], import_id: str) -> Response:
    """Read the file again, with another layer, mapping or match, or as another kind; or leave out
    features.

    Only for an import that is `ready`, or that failed to read its file. A layer that took too much
    time or memory is not read again: choose another layer, or import a simpler file. With
    `left_out` alone, the file is not read again, and the counts change at once.
    """
    return _import_response(
        import_record(service.change_import(principal, import_id, values), principal)
    )


@_operation(
    f"GET {_ONE}/features",
    precheck=listing.find_import,
    query=ImportFeatureQuerySchema,
    gives=(200, page_of(ImportFeatureSchema)),
)
def list_import_features(principal: Principal, values: dict[str, Any], import_id: str) -> Response:
    """List the features of an import, and what becomes of each, in the order of the file."""
    records, total = listing.list_features(principal, import_id, **values)
    return envelope.page_response(
        records, total=total, number=values["page"], size=values["per_page"]
    )


@_import_operation("POST", "/apply", gives=(202, _IMPORT))
def apply_import(principal: Principal, import_id: str) -> Response:
    """Apply an import: write its features.

    Only for an import that is `ready`. It is written in the background, some features at a time.
    """
    return _accepted_response(principal, service.apply_import(principal, import_id))


@_import_operation("POST", "/cancel", gives=(200, _IMPORT))
def cancel_import(principal: Principal, import_id: str) -> Response:
    """Cancel an import that is not applied, and delete its file."""
    return _import_response(import_record(service.cancel_import(principal, import_id), principal))


@_import_operation("POST", "/undo", gives=(202, _IMPORT))
def undo_import(principal: Principal, import_id: str) -> Response:
    """Undo an applied import.

    Projects and assets that it created are deleted, those that it changed are restored. What was
    changed since is kept: such features have the state `kept` and the reason.
    """
    return _accepted_response(principal, service.undo_import(principal, import_id))
