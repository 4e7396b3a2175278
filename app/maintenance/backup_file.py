"""The file of a backup: a zip with a member of lines for each table, ``manifest.json``, and
``manifest.hmac``, the signature of the manifest (``app.maintenance.authenticity``).

The manifest describes the tables and follows them. A truncated file has no zip directory, and
cannot be opened.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from io import BufferedReader
from pathlib import Path
from typing import IO, Final, Self

import orjson

from app.maintenance import MaintenanceError
from app.maintenance.dump import TableChecksum
from app.maintenance.table_codec import TableCodec
from app.values.files import new_private_file

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.hmac"
_MAX_LINE: Final = 256 * 1024 * 1024  # bytes
_MAX_MANIFEST: Final = 4 * 1024 * 1024
_MAX_SIGNATURE: Final = 256
_COMPRESSION_LEVEL: Final = 3  # more is slower and hardly smaller

# Errors of zipfile for damaged, encrypted and unknown files.
_ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class TableEntry:
    """The entry of one table in the manifest."""

    name: str
    rows: int
    columns: list[str]
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a backup. ``secret_key_check`` has a few bits of a digest of SECRET_KEY:
    enough to notice another key, too few to guess it. ``commit`` is that of the service, if
    known."""

    format: int
    service_version: str
    commit: str | None
    made_at: str
    database: str
    schema_revision: str
    secret_key_check: str
    tables: list[TableEntry]

    def table(self, name: str) -> TableEntry:
        """The entry of a table. Raises KeyError."""
        return {table.name: table for table in self.tables}[name]

    def rows(self) -> dict[str, int]:
        """The number of rows of each table."""
        return {table.name: table.rows for table in self.tables}


class BackupWriter:
    """Writes the members of a backup in the order of the calls."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(
            file, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._zip.close()
            return
        with suppress(OSError, ValueError):  # another error is being raised
            self._zip.close()

    def add_table(
        self, codec: TableCodec, lines: Iterator[bytes], checksum: TableChecksum
    ) -> TableEntry:
        """Write a table. Reading ``lines`` completes ``checksum``."""
        with self._zip.open(_member_name(codec.name), "w", force_zip64=True) as member:
            for line in lines:
                member.write(line)
        return TableEntry(codec.name, checksum.rows, codec.columns, checksum.sha256)

    def add_manifest(self, manifest: Manifest, sign: Callable[[bytes], str]) -> None:
        """Write the manifest, and the signature that ``sign`` returns for its bytes."""
        content = orjson.dumps(manifest, option=orjson.OPT_INDENT_2)
        self._zip.writestr(MANIFEST, content)
        self._zip.writestr(SIGNATURE, sign(content))


class BackupReader:
    """Reads a backup. Raises MaintenanceError for anything wrong with it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise MaintenanceError(f"There is no file {path}.") from None
        except zipfile.BadZipFile:
            raise MaintenanceError(
                f"{path} is not a backup, or is incomplete: it is not a valid zip file."
            ) from None
        except OSError as error:
            raise MaintenanceError(f"{path} cannot be read ({error.strerror}).") from None
        manifest = self._read_member(MANIFEST, _MAX_MANIFEST)
        if manifest is None:
            raise MaintenanceError(f"{path} is not a backup of Canopy: it contains no {MANIFEST}.")
        self.manifest_bytes = manifest
        self.manifest = self._parse_manifest(manifest)
        signature = self._read_member(SIGNATURE, _MAX_SIGNATURE)
        self.signature = None if signature is None else signature.decode("ascii", "replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a table."""
        try:
            with self._zip.open(_member_name(name)) as member, BufferedReader(member) as buffered:  # type: ignore[type-var]
                while line := buffered.readline(_MAX_LINE):
                    yield line
        except KeyError:
            raise self._damage(f"{_member_name(name)} is missing") from None
        except _ZIP_ERRORS as error:
            raise self._damage(f"{_member_name(name)}: {error}") from None

    def check_columns(self, codecs: list[TableCodec]) -> None:
        """Raise MaintenanceError if the tables are not these; the order of columns is free."""
        columns = {table.name: sorted(table.columns) for table in self.manifest.tables}
        if columns != {codec.name: sorted(codec.columns) for codec in codecs}:
            raise self._damage("its tables do not match its schema")

    def check_rows(self, codec: TableCodec) -> Iterator[int]:
        """Compare a table with the manifest. Yields 1 for each row. Raises MaintenanceError."""
        expected = self.manifest.table(codec.name)
        checksum = TableChecksum()
        for line in self.lines(codec.name):
            checksum.add(line)
            try:
                codec.row(line)
            except (ValueError, TypeError):
                raise self._damage(
                    f"line {checksum.rows} of {_member_name(expected.name)}"
                ) from None
            yield 1
        if checksum.rows != expected.rows:
            raise self._damage(
                f"{expected.name} has {checksum.rows:,} rows instead of {expected.rows:,}"
            )
        if checksum.sha256 != expected.sha256:
            raise self._damage(f"the checksum of {expected.name} differs")

    def _read_member(self, name: str, most: int) -> bytes | None:
        """The first ``most`` bytes of a file in the archive, or None without it."""
        try:
            with self._zip.open(name) as member:
                return member.read(most)
        except KeyError:
            return None
        except _ZIP_ERRORS as error:
            raise self._damage(f"{name}: {error}") from None

    def _parse_manifest(self, text: bytes) -> Manifest:
        try:
            content = orjson.loads(text)
        except ValueError as error:
            raise self._damage(f"{MANIFEST}: {error}") from None
        if isinstance(content, dict) and content.get("format") != FORMAT:
            raise MaintenanceError(
                f"{self._path} is not a backup that this version of Canopy can read: "
                f"its format is {content.get('format')!r}, not {FORMAT}."
            )
        try:
            tables = [_table_entry(**table) for table in content["tables"]]
            # A later version may add fields.
            known = {name: content[name] for name in _NAMES & content.keys()}
            return Manifest(**known | {"tables": tables})
        except (TypeError, KeyError, ValueError):
            raise self._damage(f"{MANIFEST} is incomplete") from None

    def _damage(self, reason: str) -> MaintenanceError:
        return MaintenanceError(f"The backup {self._path} is damaged ({reason}); use another one.")


@contextmanager
def new_backup_file(path: Path, *, overwrite: bool) -> Iterator[IO[bytes]]:
    """A file that only its owner can read, and that appears when it is complete.

    Raises:
        MaintenanceError: the file exists, or cannot be written.
    """
    if path.is_dir():
        raise MaintenanceError(f"{path} is a folder; name a file.")
    _reject_existing(path, overwrite=overwrite)
    try:
        with new_private_file(path) as file:
            yield file
            _reject_existing(path, overwrite=overwrite)  # another backup may have written it
    except OSError as error:
        raise MaintenanceError(f"{path} cannot be written ({error.strerror}).") from None


def _reject_existing(path: Path, *, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise MaintenanceError(
            f"{path} already exists; name another file, or use --force to replace it."
        )


_NAMES: Final = {field.name for field in fields(Manifest)}


def _table_entry(*, name: str, rows: int, columns: list[str], sha256: str) -> TableEntry:
    return TableEntry(str(name), int(rows), list(columns), str(sha256))


def _member_name(table: str) -> str:
    return f"tables/{table}.jsonl"
