"""Backups that are not as they were written."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

Members = dict[str, bytes]


def rewritten(path: Path, change: Callable[[Members], None]) -> None:
    """Change the members of a backup; the zip around them is whole again."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)


def change_manifest(members: Members, change: Callable[[dict[str, Any]], None]) -> None:
    manifest = orjson.loads(members["manifest.json"])
    change(manifest)
    members["manifest.json"] = orjson.dumps(manifest)


def table_of(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    return next(table for table in manifest["tables"] if table["name"] == name)


def _with_manifest(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    return lambda path: rewritten(path, lambda members: change_manifest(members, change))


def _with_members(change: Callable[[Members], None]) -> Callable[[Path], None]:
    return lambda path: rewritten(path, change)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _flip_a_bit(path: Path) -> None:
    """In the middle of the largest member."""
    with zipfile.ZipFile(path) as file:
        largest = max(file.infolist(), key=lambda info: info.compress_size)
    content = bytearray(path.read_bytes())
    content[largest.header_offset + 60 + largest.compress_size // 2] ^= 4
    path.write_bytes(content)


def _change_a_crc(path: Path) -> None:
    """That of a member, in the directory at the end of the zip."""
    content = bytearray(path.read_bytes())
    content[content.rindex(b"tables/users.jsonl") - 30] ^= 4
    path.write_bytes(content)


def _drop_last_line(members: Members) -> None:
    lines = members["tables/projects.jsonl"].splitlines(keepends=True)
    members["tables/projects.jsonl"] = b"".join(lines[:-1])


def _change_a_value(members: Members) -> None:
    content = members["tables/projects.jsonl"]
    members["tables/projects.jsonl"] = content.replace(b"Nothing", b"Anythin")


def _no_row(members: Members) -> None:
    members["tables/accounts.jsonl"] = b'{"id": 1}\n'


# What was done to it, and the words by which the refusal tells.
DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing": (lambda path: path.unlink(), "There is no file"),
    "empty": (lambda path: path.write_bytes(b""), "not a backup"),
    "text": (lambda path: path.write_text("Dear backup, " * 1000), "not a backup"),
    "its end lost": (_cut, "incomplete"),
    "a bit flipped": (_flip_a_bit, "is damaged"),
    "a wrong CRC": (_change_a_crc, "is damaged (tables/users.jsonl: Bad CRC-32"),
    "another zip": (
        lambda path: shutil.make_archive(str(path.with_suffix("")), "zip", Path(__file__).parent),
        "not a backup of Canopy",
    ),
    "manifest is no JSON": (
        _with_members(lambda members: members.update({"manifest.json": b"{"})),
        "is damaged",
    ),
    "manifest lacks a field": (
        _with_manifest(lambda manifest: manifest.pop("made_at") and None),
        "is damaged",
    ),
    "rows is no number": (
        _with_manifest(lambda manifest: table_of(manifest, "users").update(rows="many")),
        "is damaged",
    ),
    "a later format": (_with_manifest(lambda manifest: manifest.update(format=2)), "format is 2"),
    "another schema": (
        _with_manifest(
            lambda manifest: manifest.update(
                schema_revision="ffff", service_version="9.9.9", commit="0123456789" * 4
            )
        ),
        "Restore it with the version of Canopy that made it, 9.9.9 (commit 012345678901)",
    ),
    "a table too few": (
        _with_manifest(lambda manifest: manifest["tables"].pop() and None),
        "tables",
    ),
    "a member lost": (
        _with_members(lambda members: members.pop("tables/assets.jsonl") and None),
        "assets.jsonl is missing",
    ),
    "a row lost": (_with_members(_drop_last_line), "rows instead of"),
    "a value changed": (_with_members(_change_a_value), "the checksum of projects differs"),
    "a line of another kind": (_with_members(_no_row), "line 1 of tables/accounts.jsonl"),
}
