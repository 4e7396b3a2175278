"""SQLite databases that try to have more read than the rows of their tables."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from app.formats.features import FileInvalid
from app.formats.readers.sqlite_file import SqliteFile

GOOD = ("CREATE TABLE good(a, b)", "INSERT INTO good VALUES('secret', 7)")
Row = tuple[str, str, int, str]  # type, name, page and definition in the schema


def made(folder: Path, *statements: str, schema: tuple[Row, ...] = ()) -> Path:
    """A database; rows of the schema are written as they are, past SQLite's checks."""
    path = folder / "upload"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    for statement in (*GOOD, *statements):
        connection.execute(statement)
    if schema:
        connection.execute("PRAGMA writable_schema = ON")
        for kind, name, page, definition in schema:
            row = (kind, name, name, page, definition)
            connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
    connection.close()
    return path


def opened(path: Path, table: str) -> Any:
    """The rows of a table; None: it cannot be read."""
    file = SqliteFile(path)
    try:
        name = file.find_table(table)
        return (
            None
            if name is None
            else list(file.read_rows(name, [c.name for c in file.columns(name)]))
        )
    finally:
        file.close()


def is_refused(path: Path, table: str) -> bool:
    try:
        return opened(path, table) is None
    except FileInvalid:
        return True


def test_plain_tables(tmp_path: Path) -> None:
    for definition, name in (
        ('CREATE TABLE "for ""est"(a)', 'for "est'),
        ("CREATE TABLE [for est](a)", "FOR EST"),
        ("CREATE TABLE `for``est`(a)", "for`est"),
        ("CREATE TABLE 'for''est'(a)", "for'est"),
        ("CREATE TABLE IF NOT EXISTS main.forest (a)", "Forest"),
        ("CREATE TABLE wäldli(a)", "wäldli"),
        ("CREATE TABLE forest(a PRIMARY KEY) WITHOUT ROWID", "forest"),
        ("CREATE TABLE forest AS SELECT 1 AS a WHERE 0", "forest"),
    ):
        assert opened(made(tmp_path, definition), name) == [], definition


def test_what_is_no_plain_table(tmp_path: Path) -> None:
    for definition, name in (
        ("CREATE VIEW forest AS SELECT a FROM good", "forest"),
        ("CREATE VIRTUAL TABLE forest USING fts5(a)", "forest"),
        ("CREATE VIRTUAL TABLE forest USING rtree(a, b, c)", "forest"),
        ("CREATE INDEX forest ON good(a)", "forest"),
        ("CREATE TABLE other(a)", "forest"),
        ("CREATE TABLE other(a)", "sqlite_master"),
        ("CREATE TABLE other(a)", "sqlite_schema"),
        ("CREATE TABLE forest(a INTEGER PRIMARY KEY AUTOINCREMENT)", "sqlite_sequence"),
    ):
        assert opened(made(tmp_path, definition), name) is None, definition


VIEW = "CREATE VIEW forest AS SELECT a FROM good"
TEXT = "CREATE VIRTUAL TABLE forest USING VirtualText('/etc/passwd', 'utf-8')"
SEARCH = "CREATE VIRTUAL TABLE forest USING fts5(a)"


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param((("table", "forest", 0, TEXT),), id="virtual table"),
        pytest.param((("table", "forest", 2, TEXT),), id="virtual table with a page"),
        pytest.param((("table", "forest", 2, VIEW),), id="view that is listed as a table"),
        pytest.param(
            (("table", "forest", 2, "CREATE TABLE decoy(a)"), ("view", "z", 0, VIEW)),
            id="name of another one",
        ),
        pytest.param(
            (("view", "z", 0, VIEW), ("table", "forest", 2, "CREATE TABLE forest(a)")),
            id="view before the table",
        ),
        pytest.param(
            (("table", "z", 0, SEARCH), ("table", "forest", 2, "CREATE TABLE forest(a)")),
            id="virtual table before the table",
        ),
    ],
)
def test_a_schema_that_lies(tmp_path: Path, schema: tuple[Row, ...]) -> None:
    assert is_refused(made(tmp_path, schema=schema), "forest")


def test_a_name_that_is_a_word_of_the_definition(tmp_path: Path) -> None:
    for word in ("IF", "if"):
        for other in ('VIEW "IF" AS SELECT a FROM good', 'VIRTUAL TABLE "IF" USING fts5(a)'):
            schema = (("table", "IF", 2, "CREATE TABLE IF NOT EXISTS decoy(a)"),)
            assert is_refused(made(tmp_path, f"CREATE {other}", schema=schema), word), (word, other)


def test_computed_columns_are_not_read(tmp_path: Path) -> None:
    path = made(
        tmp_path,
        "CREATE TABLE forest(a, big AS (hex(zeroblob(9999999))), sum AS (a + 1) STORED)",
        "INSERT INTO forest(a) VALUES (1)",
    )
    file = SqliteFile(path)
    assert file.find_table("forest") == "forest"
    assert [column.is_computed for column in file.columns("forest")] == [False, True, False]
    assert list(file.read_rows("forest", ["a", "sum"])) == [(1, 2)]
    with pytest.raises(FileInvalid, match="damaged"):
        list(file.read_rows("forest", ["big"]))
    file.close()


def test_the_rows_of_a_table(tmp_path: Path) -> None:
    file = SqliteFile(made(tmp_path, VIEW))
    assert list(file.read_rows("good", ["a", "b"])) == [("secret", 7)]
    assert file.count("good") == 1
    with pytest.raises(FileInvalid):
        list(file.read_rows("forest", ["a"]))
    file.close()


def test_nothing_else_is_run(tmp_path: Path) -> None:
    for statement in (
        "ATTACH ':memory:' AS other",
        "PRAGMA query_only = OFF",
        "PRAGMA database_list",
        "SELECT sqlite_version()",
        "SELECT load_extension('x')",
        "SELECT hex(zeroblob(10))",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        "INSERT INTO good VALUES (1, 2)",
        "CREATE TEMP TABLE x(a)",
        "SELECT * FROM pragma_table_list",
        "VACUUM INTO '/tmp/x'",
    ):
        file = SqliteFile(made(tmp_path))
        with pytest.raises(FileInvalid, match="damaged"):
            list(file._rows(statement))
        file.close()


def test_a_large_value(tmp_path: Path) -> None:
    path = made(
        tmp_path, "CREATE TABLE forest(a, b)", "INSERT INTO forest VALUES(zeroblob(4e7), 1)"
    )
    file = SqliteFile(path)
    assert list(file.read_rows("forest", ["b"])) == [(1,)]
    with pytest.raises(FileInvalid, match="larger than 32 MiB"):
        list(file.read_rows("forest", ["a"]))
    file.close()


def test_it_may_not_take_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.formats.readers.sqlite_file.DATABASE_STEPS", 50_000)
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)"
    file = SqliteFile(made(tmp_path, f"INSERT INTO good {many} SELECT i, i FROM n"))
    with pytest.raises(FileInvalid, match="takes too long"):
        file.count("good")
    file.close()


def test_rows_may_not_have_far_more_in_them_than_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)"
    rows = f"INSERT INTO good {many} SELECT i, i FROM n"
    assert len(opened(made(tmp_path, rows), "good")) == 201
    with pytest.raises(FileInvalid, match="damaged"):
        opened(made(tmp_path, rows, f"ALTER TABLE good ADD c DEFAULT '{'x' * 100_000}'"), "good")
    # As if pages referred to each other falsely, so that the few rows in them were read often.
    monkeypatch.setattr("app.formats.readers.sqlite_file.ZIP_SMALL_BYTES", 0)
    monkeypatch.setattr("app.formats.readers.sqlite_file.ZIP_RATIO", 1)
    with pytest.raises(FileInvalid, match="damaged"):
        opened(made(tmp_path, rows), "good")


def test_what_is_no_database(tmp_path: Path) -> None:
    for content, told in (
        (b"", "no SQLite database"),
        (b"x" * 5000, "no SQLite database"),
        (b"SQLite format 3\0", "damaged"),
        (b"SQLite format 3\0" + b"\xff" * 5000, "damaged"),
    ):
        (tmp_path / "upload").write_bytes(content)
        with pytest.raises(FileInvalid, match=told):
            opened(tmp_path / "upload", "forest")


def test_a_database_that_was_copied_while_in_use(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "in use", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE forest(a)")
    copy = Path(shutil.copy(tmp_path / "in use", tmp_path / "copy"))
    connection.close()
    file = SqliteFile(copy)
    assert file.is_in_use
    assert file.find_table("forest") is None  # it is in the other file, which was not copied
    file.close()
    assert {path.name for path in tmp_path.iterdir()} == {"in use", "copy"}


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path = made(
        tmp_path, "CREATE TABLE forest(a)", "INSERT INTO forest VALUES(CAST(x'46F6' AS TEXT))"
    )
    assert opened(path, "forest") == [("F\ufffd",)]
    path = made(tmp_path, "CREATE TABLE forest(column)")
    path.write_bytes(path.read_bytes().replace(b"column", b"colum\xf6"))
    with pytest.raises(FileInvalid, match="damaged"):
        opened(path, "forest")
