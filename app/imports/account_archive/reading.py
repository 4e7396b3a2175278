"""The archive of an account, read line by line. Whoever made it need not be trusted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from app.formats.features import FileInvalid
from app.formats.readers.archive import Archive
from app.policy.account_export import FORMAT, FORMAT_VERSION, MANIFEST
from app.policy.files import GEOMETRY_BYTES
from app.values.ids import is_id
from app.values.strict_json import JsonInvalid, loads
from app.values.text import line_problem, slugify

ACCOUNT: Final = "account.json"
PROJECTS: Final = "projects.geojson"
ASSETS: Final = "assets.geojson"
BOUNDARIES: Final = "boundary-history.ndjson"
_READ: Final = (MANIFEST, ACCOUNT, PROJECTS, ASSETS, BOUNDARIES)
_LINE_BYTES: Final = GEOMETRY_BYTES
# Unpacked to packed: a bomb has up to 1,000, and rows that differ in nothing but their ids have 20.
_MOST_RATIO: Final = 200
_AGAIN: Final = "Export the account again."


class Source(NamedTuple):
    """Where an archive is from: the account's id and slug there, the URL of that instance, and when
    the export began."""

    account: str
    slug: str
    instance: str
    made_at: str


class AccountArchive:
    """An open archive. Every method raises FileInvalid, whose message names file and line.

    Attributes:
        source: where it is from.
        name, type: those of the account.
        needs_second_factor: its members needed one.
        records: the number of records of each file; None: it is no list.
    """

    def __init__(self, path: Path) -> None:
        self._zip = Archive(path, _READ, most_bytes=2**63, most_ratio=_MOST_RATIO)
        try:
            self._read_manifest()
            self._read_account()
        except FileInvalid:
            self._zip.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def features(self, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the features of a layer, each with its place, such as ``assets.geojson, line 7``,
        as ``app.formats.writers.geojson`` writes them: one on a line."""
        return self._numbered(name, self._feature_lines(name))

    def lines(self, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the records of a file of NDJSON, each with its place."""
        return self._numbered(name, self._raw_lines(name))

    def _numbered(
        self, name: str, lines: Iterator[tuple[str, bytes]]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        found = 0
        for place, line in lines:
            found += 1
            yield place, _parsed(line, place)
        if found != self.records[name]:
            raise FileInvalid(
                f"{name} has {found:,} records, and {MANIFEST} says {self.records[name]}. {_AGAIN}"
            )

    def _feature_lines(self, name: str) -> Iterator[tuple[str, bytes]]:
        for number, (place, line) in enumerate(self._raw_lines(name)):
            text = line.strip()
            if number == 0:
                if not text.startswith(b'{"type":"FeatureCollection"'):
                    raise FileInvalid(f"{place}: This is no layer that an export has written.")
            elif text not in (b"", b"]}"):
                yield place, text.removesuffix(b",")

    def _raw_lines(self, name: str) -> Iterator[tuple[str, bytes]]:
        """Yield the lines of a file. At its end, it must be the one that was exported."""
        digest, number = hashlib.sha256(), 0
        with self._open(name) as file:
            while line := file.readline(_LINE_BYTES + 1):
                number += 1
                place = f"{name}, line {number:,}"
                if len(line) > _LINE_BYTES:
                    size = _LINE_BYTES // 2**20
                    raise FileInvalid(f"{place}: It is longer than {size} MiB.")
                digest.update(line)
                yield place, line
        self._check_digest(name, digest)

    def _check_digest(self, name: str, digest: Any) -> None:
        if digest.hexdigest() != self._digests[name]:
            raise FileInvalid(f"{name} was changed after the export: its SHA-256 differs. {_AGAIN}")

    def _open(self, name: str) -> Any:
        if name not in self._zip.members:
            raise FileInvalid(f"It has no {name}, so it is not the archive of an account.")
        return self._zip.open(name)

    def _read_account(self) -> None:
        with self._open(ACCOUNT) as file:
            content = file.read(_LINE_BYTES)
        self._check_digest(ACCOUNT, hashlib.sha256(content))
        found = _parsed(content, ACCOUNT)
        if _text_at(found, "account", "id") != self.source.account:
            raise FileInvalid(f"{ACCOUNT} is of another account than {MANIFEST}. {_AGAIN}")
        self.name, self.type = (_text_at(found, "account", each) for each in ("name", "type"))
        requirement = found.get("second_factor")
        self.needs_second_factor = (
            isinstance(requirement, dict) and requirement.get("required_since") is not None
        )

    def _read_manifest(self) -> None:
        with self._open(MANIFEST) as file:
            manifest = _parsed(file.read(_LINE_BYTES), MANIFEST)
        version = manifest.get("format_version")
        if manifest.get("format") != FORMAT or type(version) is not int:
            raise FileInvalid(f"{MANIFEST} is not that of an account's archive.")
        if version != FORMAT_VERSION:
            made_by = _text_at(manifest, "made_by")
            raise FileInvalid(
                f"Its format is {version}, of {made_by}, and this version of Canopy reads format "
                f"{FORMAT_VERSION}. Import it into an instance of a version that reads it."
            )
        account_id = _text_at(manifest, "account", "id")
        if not is_id("account", account_id):
            raise FileInvalid(f"{MANIFEST}: {account_id!r} is no id of an account.")
        others = ("account", "slug"), ("instance",), ("made_at",)
        self.source = Source(account_id, *(_text_at(manifest, *path) for path in others))
        if not (slug := self.source.slug) or slugify(slug) != slug:
            raise FileInvalid(f"{MANIFEST}: {slug[:100]!r} is no slug of an account.")
        try:
            files = {each["name"]: each for each in manifest["files"]}
            self.records = {name: files[name]["records"] for name in _READ[1:]}
            self._digests = {name: files[name]["sha256"] for name in _READ[1:]}
            is_counted = all(type(self.records[name]) is int for name in _READ[2:])
        except (KeyError, TypeError):
            is_counted = False
        if not is_counted:
            raise FileInvalid(f"{MANIFEST} does not list all files. {_AGAIN}")


def _parsed(text: bytes, place: str) -> dict[str, Any]:
    try:
        value = loads(text)
    except JsonInvalid as error:
        reason = str(error).replace("The body", "It").replace("line 1, ", "")
        raise FileInvalid(f"{place}: {reason}") from None
    if not isinstance(value, dict):
        raise FileInvalid(f"{place}: This is no JSON object.")
    return value


def _text_at(value: Any, *path: str) -> str:
    """The text at a path in an object."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, str) or len(value) > 2_000 or line_problem(value):
        raise FileInvalid(f"{'.'.join(path)} is missing, or no line of text. {_AGAIN}")
    return value
