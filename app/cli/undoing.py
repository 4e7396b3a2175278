"""``bin/canopy undo-import``: undoing an import."""

from __future__ import annotations

from typing import Any, Final

import click

from app.account.lookup import find_account
from app.auth.operator import operator_of
from app.auth.principal import Principal
from app.cli.context import database_command
from app.cli.import_steps import own_step
from app.cli.output import account_option, print_text, show_json, show_table
from app.cli.progress import ProgressBar
from app.db.transactions import transaction
from app.imports import listing, service
from app.imports.features.targets import import_targets
from app.imports.leases import lease_import
from app.imports.listing import all_features
from app.imports.undoing import undo_features
from app.values.text import pluralize

KEPT_SHOWN: Final = 200
_HELP: Final = """\
Undo an import.

What the import created is deleted, and what it changed is as it was before. Projects and assets
that somebody has changed since are kept and listed. The command import prints the ID, and
GET /v1/imports lists those of the last 30 days.
"""


@click.command("undo-import")
@click.argument("import_id", metavar="ID")
@account_option
@database_command("undo-import imp_01k9zr2c8w4h6t0y3v7m5n1bqd --account green-woods", text=_HELP)
def undo_import(import_id: str, account: str, as_json: bool) -> None:
    row = find_account(account)
    owner = operator_of(row)
    record = _undo_import(owner, import_id, quiet=as_json)
    features = all_features(owner.account_id, import_id, state="kept")
    kept = [_kept_record(feature) for feature in features]
    undone = record["counts"]["undone"]
    if as_json:
        show_json({"import_id": import_id, "undone": undone, "kept": kept})
        return
    if kept:
        print_text("Kept:")
        rows = [tuple(feature.values()) for feature in kept[:KEPT_SHOWN]]
        show_table(("feature", "name", "id", "reason"), rows)
        if len(kept) > KEPT_SHOWN:
            print_text(f"… and {len(kept) - KEPT_SHOWN:,} more; --json lists all.")
        print_text()
    print_text(
        f"Undid the import of {record['filename']} in {row.name}: "
        f"{pluralize(undone, 'feature')} undone, {len(kept):,} kept."
    )


def _undo_import(owner: Principal, import_id: str, *, quiet: bool) -> dict[str, Any]:
    """Undo the import. Returns its record."""
    with transaction():
        row = service.undo_import(owner, import_id)
        leased, total = lease_import(row), row.progress_total
        targets = import_targets(row)
    with own_step(owner, leased), ProgressBar("Undoing  ", quiet=quiet) as bar:
        bar.start(total)
        undo_features(leased, owner, targets, transaction, bar)
    return listing.read_import(owner, import_id)


def _kept_record(row: Any) -> dict[str, Any]:
    reason = row.problems[0]["message"]
    return {"feature": row.number, "name": row.name, "id": row.target_id, "reason": reason}
