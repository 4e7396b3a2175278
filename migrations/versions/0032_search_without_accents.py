"""Searched texts without accents, and with the external ids of projects

Revision: 0032
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

# Earlier code finds no text by its accents, and does not find what it writes itself without them:
# bin/canopy doctor --repair mends that afterwards.
runs_earlier_code = True

_BATCH = 5_000  # rows; each text has at most 10,000 characters
_SEPARATOR = "\uffff"
_RESERVED = re.compile("[\uffff\ue000-\ue07f]")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_PLAIN = dict(
    zip("ıłƚøɵđðɖħŧⱦƀɨɉɍʉɇɏƶǥȼⱥᵽȷ", "illoodddhttbijrueyzgcapj", strict=True), æ="ae", œ="oe"
)
_UNDECOMPOSED = re.compile(f"[{''.join(_PLAIN)}]")


def upgrade() -> None:
    """Change the texts that differ: those with a letter that is not ASCII, or an external id."""
    for table, column in (("projects", "external_id"), ("assets", "NULL")):
        refold(table, column)


def refold(table: str, external_id: str) -> None:
    """Update the searched texts of a table, in batches in the order in which rows are stored.

    The index of texts would take a third of a millisecond for each row. So if there are many, it is
    made anew instead, which takes a tenth of that.
    """
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    afterwards: list[str] = []
    for batch in changed_texts(table, external_id):
        if len(batch) == _BATCH and not afterwards:
            afterwards = leave_index(table, is_postgresql=is_postgresql)
        write(table, batch, is_postgresql=is_postgresql)
    for statement in afterwards:
        op.execute(statement)


def leave_index(table: str, *, is_postgresql: bool) -> list[str]:
    """Let changes pass by the index of texts. Returns the statements that make it anew."""
    if is_postgresql:
        found = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()"
        condition = "tablename = :table AND strpos(indexdef, 'canopy_grams') > 0"
    else:
        found = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        condition = "tbl_name = :table AND name LIKE '%retext'"
    afterwards = []
    rows = op.get_bind().execute(sa.text(f"{found} AND {condition}"), {"table": table})
    for name, definition in rows.all():
        if is_postgresql:
            op.execute(f"DROP INDEX {name}")
            again = f"ALTER INDEX {name} ALTER COLUMN 1 SET STATISTICS 0"
        else:
            op.execute(f"DROP TRIGGER {name}")
            index = name.replace("_retext", "_text")
            again = f"INSERT INTO {index}({index}) VALUES ('rebuild')"
        afterwards += [definition, again]
    return afterwards


def write(table: str, batch: list[dict[str, Any]], *, is_postgresql: bool) -> None:
    if is_postgresql:
        update = sa.text(
            f"UPDATE {table} SET search_text = changed.text FROM"
            " unnest(CAST(:numbers AS bigint[]), CAST(:texts AS text[])) AS changed(number, text)"
            ' WHERE "row" = changed.number'
        )
        values = {
            "numbers": [row["number"] for row in batch],
            "texts": [row["text"] for row in batch],
        }
        op.get_bind().execute(update, values)
    else:
        update = sa.text(f'UPDATE {table} SET search_text = :text WHERE "row" = :number')
        op.get_bind().execute(update, batch)


def changed_texts(table: str, external_id: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the numbers of rows and their new texts."""
    batch, last = [], -1
    rows = sa.text(
        f'SELECT "row", search_text, {external_id} FROM {table} WHERE "row" > :last'
        f' ORDER BY "row" LIMIT {_BATCH}'
    )
    while found := op.get_bind().execute(rows, {"last": last}).all():
        for number, text, own_id in found:
            made = searchable(text, own_id)
            if made != text:
                batch.append({"number": number, "text": made})
        last = found[-1][0]
        while len(batch) >= _BATCH:
            yield batch[:_BATCH]
            batch = batch[_BATCH:]
    if batch:
        yield batch


def searchable(text: str, external_id: str | None) -> str:
    """A text that was normalized for search, without accents, followed by the external id."""
    if external_id is not None:
        folded = unicodedata.normalize("NFC", _RESERVED.sub("\ufffe", external_id)).casefold()
        text = f"{text}{_SEPARATOR}{folded}"
    if text.isascii():
        return text
    decomposed = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    plain = _UNDECOMPOSED.sub(lambda found: _PLAIN[found.group()], decomposed)
    return unicodedata.normalize("NFC", plain)
