"""Steps of an import that a command runs instead of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.auth.principal import Principal
from app.cli.output import CommandError
from app.db.transactions import transaction
from app.imports import listing, service
from app.imports.leases import LeasedImport, LeaseLost, end_step


@contextmanager
def own_step(owner: Principal, leased: LeasedImport) -> Iterator[None]:
    """Run the current step of an import in this block. If the block raises, the import fails, so
    that the command can be repeated, unless a worker has taken the import over, as after this
    process was stopped for long.

    Raises:
        CommandError: the command was interrupted, or a worker goes on.
    """
    try:
        yield
    except KeyboardInterrupt:
        done = listing.read_import(owner, leased.import_id)["progress"]["done"]
        message = f"Interrupted after {done} features. Run the command again for the rest."
        raise CommandError(message) from None
    except LeaseLost:
        message = f"A worker goes on with this import: GET /v1/imports/{leased.import_id}"
        raise CommandError(message) from None
    finally:
        with transaction():
            row = service.lock_import(owner, leased.import_id)
            if (row.lease, row.status) == (leased.lease, leased.status):
                end_step(row, "failed", "The import was interrupted.")
