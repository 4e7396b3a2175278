"""The archive of an account, read line by line. Whoever made it need not be trusted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from marshmallow import fields, validate

from app.api.query_schemas import ResourceId
from app.formats.features import FileInvalid
from app.formats.readers.archive import Archive
from app.imports.account_archive.records import loaded, slug_field
from app.policy.account_export import FORMAT, FORMAT_VERSION, MANIFEST
from app.policy.files import GEOMETRY_BYTES, ZIP_MEMBERS
from app.policy.request_limits import ACCOUNT_TYPES
from app.values import clock
from app.values.schemas import BoundedList, Line, Name, PartialSchema, StrictInteger, Timestamp
from app.values.strict_json import JsonInvalid, loads

ACCOUNT: Final = "account.json"
PROJECTS: Final = "projects.geojson"
ASSETS: Final = "assets.geojson"
BOUNDARIES: Final = "boundary-history.ndjson"
_READ: Final = (MANIFEST, ACCOUNT, PROJECTS, ASSETS, BOUNDARIES)
_LAYER: Final = b'{"type":"FeatureCollection"'
_LINE_BYTES: Final = GEOMETRY_BYTES
# Unpacked to packed: a bomb has up to 1,000, and rows that differ in nothing but their ids have 20.
_MOST_RATIO: Final = 200
_LONGEST: Final = 2_000  # characters


class Source(NamedTuple):
    """Where an archive is from: the account's id and slug there, the URL of that instance, and when
    the export began."""

    account: str
    slug: str
    instance: str
    made_at: str


class _FileSchema(PartialSchema):
    name = fields.String(required=True)
    records = StrictInteger(low=0, high=2**53, allow_none=True, required=True)
    sha256 = fields.String(required=True)


class _AccountSchema(PartialSchema):
    id = ResourceId("account", required=True)
    slug = slug_field()


class _ManifestSchema(PartialSchema):
    """What the manifest of any version has."""

    format = fields.String(required=True, validate=validate.Equal(FORMAT))
    format_version = fields.Integer(required=True, strict=True)
    made_by = Line(longest=_LONGEST, required=True)


class _SourceSchema(PartialSchema):
    made_at = Timestamp(required=True)
    instance = Line(longest=_LONGEST, required=True)
    account = fields.Nested(_AccountSchema, required=True)
    files = BoundedList(fields.Nested(_FileSchema), longest=ZIP_MEMBERS, required=True)


class _NamedSchema(PartialSchema):
    name = Name(required=True)
    type = fields.String(required=True, validate=validate.OneOf(ACCOUNT_TYPES))


class _AccountFileSchema(PartialSchema):
    account = fields.Nested(_NamedSchema, required=True)


class AccountArchive:
    """An open archive. Every method raises FileInvalid, whose message names file and line.

    Attributes:
        source: where it is from.
        began: when the export began.
        name, type: those of the account.
        total: the number of records that are read.
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

    def records(self, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the records of a file, each with its place, such as ``assets.geojson, line 7``: of
        NDJSON, or of a layer as ``app.formats.writers.geojson`` writes it, one on a line. At its
        end, the file must be the one that was exported."""
        digest = hashlib.sha256()
        with self._open(name) as file:
            lines = iter(partial(file.readline, _LINE_BYTES + 1), b"")
            for number, line in enumerate(lines, start=1):
                place = f"{name}, line {number:,}"
                if len(line) > _LINE_BYTES:
                    size = _LINE_BYTES // 2**20
                    raise FileInvalid(f"{place}: It is longer than {size} MiB.")
                digest.update(line)
                text = line.strip().removesuffix(b",")
                if text not in (b"", b"]}") and not text.startswith(_LAYER):
                    yield place, _parsed(text, place)
        self._check_digest(name, digest)

    def _check_digest(self, name: str, digest: Any) -> None:
        if digest.hexdigest() != self._digests.get(name):
            raise FileInvalid(
                f"{name} was changed after the export: its SHA-256 differs. Export the account "
                "again."
            )

    def _open(self, name: str) -> Any:
        if name not in self._zip.members:
            raise FileInvalid(f"It has no {name}, so it is not the archive of an account.")
        return self._zip.open(name)

    def _read_account(self) -> None:
        with self._open(ACCOUNT) as file:
            content = file.read(_LINE_BYTES)
        self._check_digest(ACCOUNT, hashlib.sha256(content))
        account = loaded(_AccountFileSchema(), _parsed(content, ACCOUNT), ACCOUNT)["account"]
        self.name, self.type = account["name"], account["type"]

    def _read_manifest(self) -> None:
        with self._open(MANIFEST) as file:
            found = _parsed(file.read(_LINE_BYTES), MANIFEST)
        manifest = loaded(_ManifestSchema(), found, MANIFEST)
        if manifest["format_version"] != FORMAT_VERSION:
            raise FileInvalid(
                f"Its format is {manifest['format_version']}, of {manifest['made_by']}, and this "
                f"version of Canopy reads format {FORMAT_VERSION}. Import it into an instance of a "
                "version that reads it."
            )
        source = loaded(_SourceSchema(), found, MANIFEST)
        account, self.began = source["account"], source["made_at"]
        made_at = clock.format_time(self.began)
        self.source = Source(account["id"], account["slug"], source["instance"], made_at)
        files = {each["name"]: each for each in source["files"] if each["name"] in _READ}
        self._digests = {name: each["sha256"] for name, each in files.items()}
        self.total = sum(each["records"] or 0 for each in files.values())


def _parsed(text: bytes, place: str) -> dict[str, Any]:
    try:
        value = loads(text)
    except JsonInvalid as error:
        reason = str(error).replace("The body", "It").replace("line 1, ", "")
        raise FileInvalid(f"{place}: {reason}") from None
    if not isinstance(value, dict):
        raise FileInvalid(f"{place}: This is no JSON object.")
    return value
