"""Running the step that an import is at."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import bindparam, select

from app.auth.principal import Principal
from app.auth.tenant import columns_of, find_locked
from app.db.queries import CompiledQuery
from app.db.transactions import Transaction
from app.imports.applying import apply_features
from app.imports.attribution import acting_for
from app.imports.features.reader_process import TooCostly
from app.imports.features.targets import import_targets
from app.imports.leases import LeasedImport, LeaseLost, do_others_wait, end_step, lock_leased
from app.imports.preview import affordable_layers, prepare_preview
from app.imports.undoing import undo_features
from app.imports.uploads import delete_upload, local_copy
from app.jobs import shutdown
from app.models import Account, Import
from app.policy.imports import TURN_SECONDS
from app.policy.permissions import expand_permissions

log = logging.getLogger(__name__)

_IMPORT: Final = CompiledQuery(
    columns_of(
        Import,
        Import.kind,
        Import.project_id,
        Import.points_as_plots,
        Import.points,
        Import.layers,
        Import.layer,
        Import.upload_id,
        Import.filename,
        Import.match,
        Import.user_id,
        Import.user_email,
        Import.acted_by,
        Import.acted_by_email,
        Import.acted_as,
    ).where(Import.id == bindparam("import_id"))
)
_ACCOUNT: Final = CompiledQuery(
    select(Account.name, Account.plan).where(Account.id == bindparam("account_id"))
)


def run_step(leased: LeasedImport, in_transaction: Transaction) -> None:
    """Run the step that the status of an import names."""
    row = _IMPORT.first(account_id=leased.account_id, import_id=leased.import_id)
    if row is None:
        return
    try:
        _run_step(leased, row, in_transaction)
    except TooCostly as error:
        with in_transaction():
            end_step(lock_leased(leased), "failed", str(error))
    except LeaseLost:
        log.info("import %s: canceled, deleted, or continued by another worker", leased.import_id)


def _run_step(leased: LeasedImport, row: Any, in_transaction: Transaction) -> None:
    if leased.status == "reading":
        with local_copy(leased.account_id, row.upload_id, row.filename) as path:
            prepare_preview(leased, path, in_transaction)
        with in_transaction():
            _delete_unreadable(leased)
        return
    principal, targets = _step_principal(leased, row), import_targets(row)
    with acting_for(leased.import_id, row.acted_as):
        is_over = _begin_turn(leased.account_id)
        if leased.status == "applying":
            apply_features(leased, principal, targets, row.match, in_transaction, is_over=is_over)
        else:
            undo_features(leased, principal, targets, in_transaction, is_over=is_over)


def _begin_turn(account_id: str) -> Callable[[], bool]:
    """Begin a turn of an account. Returns a function that is True once it is over."""
    end = time.monotonic() + TURN_SECONDS

    def is_over() -> bool:
        is_late = time.monotonic() > end and do_others_wait(account_id)
        return is_late or shutdown.requested.is_set()

    return is_over


def _delete_unreadable(leased: LeasedImport) -> None:
    """Delete a file that no other choices can read: it cannot be opened, or each of its layers is
    too costly. A file may not open only because of the layer that was chosen; it stays."""
    import_ = find_locked(leased.account_id, Import, leased.import_id)
    if import_ is None or import_.status != "failed":
        return
    is_costly = import_.costly_layers and not affordable_layers(import_)
    if is_costly or (import_.format is None and import_.layer is None):
        delete_upload(import_)


def _step_principal(leased: LeasedImport, row: Any) -> Principal:
    """The person who applies or undoes the import. Raises LeaseLost if the account was deleted."""
    account = _ACCOUNT.first(account_id=leased.account_id)
    if account is None:
        raise LeaseLost
    return Principal(
        kind="import",
        credential_id=leased.import_id,
        account_id=leased.account_id,
        account_name=account.name,
        plan=account.plan,
        permissions=expand_permissions(("assets:write", "projects:write")),
        user_id=row.acted_by,
        user_email=row.acted_by_email,
    )
