"""The table of files: where each is, and the verdict on what Canopy reads of it."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

TABLE: Final = Path(__file__).with_name("files.jsonl")
_SOURCE: Final = "https://raw.githubusercontent.com/{repository}/{commit}/{path}"
_SECONDS: Final = 60
_PACKED_AT: Final = (2026, 1, 1, 0, 0, 0)  # of the members of a zip file that is made here

# From the best to the worst. "refused badly": the file is sound, or the message is untrue, a wall,
# or for programs. "loses": something is missing, and nothing says so.
VERDICTS: Final = ("fine", "refused rightly", "refused badly", "loses", "crash")


class NotThere(Exception):
    """A file cannot be had, or is another one than it was."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a public repository, and what was found of it.

    ``others`` are the paths and sums of the files that are zipped together with it, as whoever
    sends a shapefile does. ``kind`` is what it is imported as. ``says`` is what Canopy said when
    the verdict was made; ``reason`` explains a verdict that is not "fine".
    """

    repository: str
    commit: str
    path: str
    licence: str | None
    bytes: int
    sha256: str
    others: dict[str, str] = field(default_factory=dict)
    kind: str = "projects"
    format: str | None = None
    verdict: str = "fine"
    reason: str = ""
    says: str = ""

    @property
    def name(self) -> str:
        return f"{self.repository}/{self.path}"

    def judged(self, verdict: str, says: str, reason: str, file_format: str | None) -> Entry:
        """The same file with what was found now."""
        return replace(self, verdict=verdict, says=says, reason=reason, format=file_format)


@dataclass(frozen=True, slots=True)
class Imported:
    """The record of an import and its first features, with the geometries of those that have one;
    ``error`` instead if it was not accepted."""

    record: dict[str, Any] = field(default_factory=dict)
    features: list[dict[str, Any]] = field(default_factory=list)
    geometries: dict[int, str] = field(default_factory=dict)
    error: str | None = None


def read_table() -> list[Entry]:
    """The entries, in the order of the table."""
    return [Entry(**json.loads(line)) for line in TABLE.read_text().splitlines()]


def write_table(entries: Iterable[Entry]) -> None:
    """Replace the table. Members that say nothing are left out."""
    lines = []
    for entry in entries:
        values = {name: value for name, value in asdict(entry).items() if value or name == "reason"}
        if not entry.reason:
            del values["reason"]
        lines.append(json.dumps({"licence": None} | values, ensure_ascii=False))
    TABLE.write_text("".join(f"{line}\n" for line in sorted(lines)))


def fetched(entry: Entry, folder: Path, work: Path) -> Path:
    """The file as somebody would send it: itself, or a zip file in ``work`` of it and its others.

    Args:
        folder: where files are that were fetched before, as ``owner/name/path``; those that are
            not there are downloaded into it.

    Raises:
        NotThere: it cannot be downloaded, or its sum is another one.
    """
    sums = {entry.path: entry.sha256, **entry.others}
    found = {path: _one(entry, path, digest, folder) for path, digest in sums.items()}
    name = PurePosixPath(entry.path)
    if not entry.others:
        target = work / name.name
        shutil.copyfile(found[entry.path], target)
        return target
    target = work / f"{name.stem}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(found):
            info = zipfile.ZipInfo(PurePosixPath(path).name, _PACKED_AT)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, found[path].read_bytes())
    return target


def _one(entry: Entry, path: str, digest: str, folder: Path) -> Path:
    place = folder / entry.repository / path
    if not place.resolve().is_relative_to(folder.resolve()):
        raise NotThere("its path leads out of the folder")
    if not place.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(_download(entry, path))
    if hashlib.sha256(place.read_bytes()).hexdigest() != digest:
        raise NotThere(f"{path} has another sum than in the table")
    return place


def _download(entry: Entry, path: str) -> bytes:
    address = _SOURCE.format(
        repository=entry.repository, commit=entry.commit, path=quote(path, safe="/")
    )
    try:
        with urlopen(address, timeout=_SECONDS) as response:
            data: bytes = response.read()
    except (URLError, OSError) as error:
        raise NotThere(f"{path} cannot be downloaded: {error}") from None
    return data
