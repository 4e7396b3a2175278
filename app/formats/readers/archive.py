"""Zip files, with limits on the size, number and kind of their members."""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zlib
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from app.formats.features import FileInvalid
from app.formats.readers.layer_limits import quoted
from app.policy.files import ZIP_BYTES, ZIP_ENTRIES, ZIP_MEMBERS, ZIP_RATIO, ZIP_SMALL_BYTES

# Errors of zipfile for a file that is damaged, or made to look like one.
_BROKEN: Final = (
    BadZipFile, EOFError, LookupError, NotImplementedError, OSError, OverflowError, RuntimeError,
    ValueError, struct.error, zlib.error,
)  # fmt: skip
_DAMAGED: Final = "The zip file is damaged or incomplete. Pack it again, and send it again."
_UNPACKED: Final = (".kml", ".shp", ".shx", ".dbf", ".prj", ".cpg")
_DIRECTORY_BYTES: Final = 2 * 1024 * 1024  # for the list of members, which zipfile has in memory
_LOCAL_HEADER: Final = 30  # bytes at least before the content of a member
_ENCRYPTED: Final = 0x1 | 0x40  # flags of a member
_NAME_BYTES: Final = 255


class Archive:
    """An open zip file. ``members`` are the names of its files, in its order and with their
    folders, which end in ``/``, also where Windows wrote a backslash.

    Folders, and files that macOS adds, are left out. Only members that end as one of ``read`` can
    be read.
    """

    def __init__(
        self,
        path: Path,
        read: tuple[str, ...] = _UNPACKED,
        *,
        most_bytes: int = ZIP_BYTES,
        most_ratio: int = ZIP_RATIO,
    ) -> None:
        """Open a zip file and check everything that can be checked without unpacking it.

        Args:
            most_bytes: unpacked, of the members that can be read.
            most_ratio: of these to the bytes of the whole file, unless it is small.

        Raises:
            FileInvalid: it is damaged, exceeds a limit, or has a forbidden member.
        """
        self._file = _BoundedFile(path)
        try:
            self._zip = ZipFile(self._file)
            members = [info for info in self._zip.infolist() if not _is_left_out(info)]
            _check_members(members)
            unpacked = [info for info in members if _member_name(info).casefold().endswith(read)]
            _check_unpacked(unpacked)
            limit = max(ZIP_SMALL_BYTES, most_ratio * path.stat().st_size)
            _check_sizes(unpacked, min(most_bytes, limit), directory=self._zip.start_dir)
        except FileInvalid:
            self.close()
            raise
        except _BROKEN:
            self.close()
            raise FileInvalid(_DAMAGED) from None
        self._unpacked = {_member_name(info): info for info in unpacked}
        self.members = tuple(map(_member_name, members))

    def open(self, member: str) -> BinaryIO:
        """Open a member for reading. Reading it raises FileInvalid when it is damaged, or differs
        in size from the list of members."""
        info = self._unpacked[member]
        try:
            return io.BufferedReader(_Member(self._zip.open(info), info.file_size))
        except _BROKEN:
            raise FileInvalid(_DAMAGED) from None

    def close(self) -> None:
        """Close the file. Open members can no longer be read."""
        self._file.close()


class _BoundedFile(io.FileIO):
    """A file that refuses to be read in large parts, as zipfile would read the list of members."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            size = _DIRECTORY_BYTES + 1
        rest = os.fstat(self.fileno()).st_size - self.tell()
        if min(size, rest) > _DIRECTORY_BYTES:
            raise FileInvalid(f"The zip file has more than {ZIP_ENTRIES:,} files in it.")
        return super().read(size) or b""


class _Member(io.RawIOBase):
    """The content of a member, which must have the size in the list of members."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream = stream
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        try:
            data = self._stream.read(len(buffer))
        except _BROKEN:
            raise FileInvalid(_DAMAGED) from None
        self._left -= len(data)
        if self._left < 0 or (self._left and not data):
            raise FileInvalid(_DAMAGED)
        buffer[: len(data)] = data
        return len(data)


def _member_name(info: ZipInfo) -> str:
    """The name of a member in the zip file, with ``/`` after folders."""
    return info.orig_filename.replace("\\", "/")


def _is_left_out(info: ZipInfo) -> bool:
    path = PurePosixPath(_member_name(info))
    is_folder = _member_name(info).endswith("/")
    return is_folder or path.parts[:1] == ("__MACOSX",) or path.name == ".DS_Store"


def _check_members(members: list[ZipInfo]) -> None:
    if len(members) > ZIP_ENTRIES:
        raise FileInvalid(
            f"The zip file has {len(members):,} files in it, and may have {ZIP_ENTRIES:,}. Leave "
            "out those that do not belong to the layer."
        )
    for info in members:
        if fault := _name_fault(_member_name(info)):
            raise FileInvalid(f"The zip file has a member {quoted(info.orig_filename)} {fault}.")


def _check_unpacked(members: list[ZipInfo]) -> None:
    """Check the members that may be unpacked."""
    layers = {PurePosixPath(_member_name(info)).with_suffix("") for info in members}
    if len(layers) > ZIP_MEMBERS:
        raise FileInvalid(
            f"The zip file has {len(layers):,} layers in it, and may have {ZIP_MEMBERS}. Leave out "
            "those that you do not need, or split it."
        )
    for info in members:
        if fault := _content_fault(info):
            raise FileInvalid(f"The zip file has a member {quoted(info.orig_filename)} {fault}.")
    ((name, times),) = Counter(map(_member_name, members)).most_common(1) or [("", 1)]
    if times > 1:
        raise FileInvalid(f"The zip file has {times} files named {quoted(name)}. Pack it again.")


def _name_fault(name: str) -> str | None:
    """The fault of the name of a member, or None."""
    path = PurePosixPath(name)
    if min(name) < " ":
        return "with a control character in its name. Rename it"
    if path.is_absolute() or ".." in path.parts or re.match("[A-Za-z]:", name):
        return "with a path that leads out of it. Pack it again"
    if len(path.name.encode()) > _NAME_BYTES:
        return "with a name that is too long. Rename it"
    return None


def _content_fault(info: ZipInfo) -> str | None:
    """The fault of the type or compression of a member, or None."""
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "that is a link or a device. Put the file itself into it"
    if info.flag_bits & _ENCRYPTED:
        return "that is encrypted. Pack it again without a password"
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        return "in an unusual compression. Pack it again with the usual one (deflate)"
    return None


def _check_sizes(members: list[ZipInfo], limit: int, *, directory: int) -> None:
    """Check the unpacked size of members, and that no two of them share their bytes.

    Args:
        limit: bytes.
        directory: the offset of the list of members, which follows all of them.
    """
    if sum(info.file_size for info in members) > limit:
        raise FileInvalid(
            f"The zip file unpacks to more than {limit // 2**20:,} MiB. Leave out what does not "
            "belong to the layer, or split it."
        )
    in_order = sorted(members, key=lambda info: info.header_offset)
    ends = [info.header_offset + _LOCAL_HEADER + info.compress_size for info in in_order]
    starts = [*(info.header_offset for info in in_order[1:]), directory]
    if any(end > start for end, start in zip(ends, starts, strict=False)):
        raise FileInvalid("The zip file has members that share their content. Pack it again.")
