"""The bytes of the history of accounts: events, entries of the audit log and deliveries

Revision: 0027
"""

from __future__ import annotations

from collections import Counter

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

# Earlier code does not count what it writes: bin/canopy doctor --repair does afterwards.
runs_earlier_code = True

_ROW_BYTES = 500


def upgrade() -> None:
    zero = sa.Column("history_bytes", sa.BigInteger(), nullable=False, server_default="0")
    op.add_column("account_usage", zero)
    connection = op.get_bind()
    is_sqlite = connection.dialect.name == "sqlite"
    size = "length(CAST(body AS BLOB))" if is_sqlite else "octet_length(body)"
    sizes = Counter[str]()
    for table, bytes_of_row in (
        ("events", f"{size} + {_ROW_BYTES}"),
        ("audit_entries WHERE number IS NOT NULL", f"{size} + {_ROW_BYTES}"),
        ("deliveries", str(2 * _ROW_BYTES)),
    ):
        sums = f"SELECT account_id, sum({bytes_of_row}) FROM {table} GROUP BY account_id"
        for account_id, total in connection.exec_driver_sql(sums):
            sizes[account_id] += int(total)
    counted = sa.text("UPDATE account_usage SET history_bytes = :size WHERE account_id = :account")
    for account_id, total in sizes.items():
        connection.execute(counted, {"size": total, "account": account_id})
