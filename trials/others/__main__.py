"""Compare what Canopy reads of some 370 files of public repositories with what GDAL reads.

bin/trials others -- --files FOLDER      with the files that are there; others are downloaded
bin/trials others -- --only gpkg --only a-name

The table beside this trial (files.jsonl) has each file with its repository, commit, path, sum, and
the verdict on it: fine, refused rightly, refused badly, or loses. The files belong to their owners
and are not in this repository. What differs from the table is listed; where a verdict is worse, the
exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from trials.others import by_gdal
from trials.others.imported import Imported, Importer, importer
from trials.others.judging import judge
from trials.others.table import VERDICTS, Entry, NotThere, fetched, read_table, write_table

_BAD: Final = VERDICTS[2:]


class Judged(NamedTuple):
    """A file of the table, and what was found of it now."""

    before: Entry
    now: Entry

    @property
    def is_worse(self) -> bool:
        return VERDICTS.index(self.now.verdict) > VERDICTS.index(self.before.verdict)


def main() -> int:
    """Exit codes: 0 nothing is worse than in the table, 1 something is, or a file is not there."""
    options = _options()
    table = read_table(options.table)
    chosen = [entry for entry in table if _is_chosen(entry, options.only)]
    began, judged, missing = time.monotonic(), list[Judged](), 0
    with _files(options) as files, _instance() as reader:
        for number, entry in enumerate(chosen, start=1):
            _progress(number, len(chosen), entry)
            try:
                now = _judged(entry, reader, files)
            except NotThere as error:
                _say(f"NOT THERE  {entry.name}: {error}")
                missing += 1
                continue
            judged.append(Judged(entry, now))
            _report(judged[-1])
    if options.write:
        found = {(each.before.name): each.now for each in judged}
        write_table([found.get(entry.name, entry) for entry in table], options.table)
    return _summary(judged, missing, time.monotonic() - began)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "bin/trials others --",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--files",
        type=Path,
        metavar="FOLDER",
        help="where the files are kept, as owner/name/path; what is missing is downloaded into it",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WORD",
        help="files of this format or verdict, or with this word in their name; can be repeated",
    )
    parser.add_argument(
        "--write", action="store_true", help="put what was found into the table; look at it then"
    )
    parser.add_argument("--table", type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.table is None:
        options.table = Path(__file__).with_name("files.jsonl")
    return options


def _is_chosen(entry: Entry, words: Sequence[str]) -> bool:
    return not words or any(
        word in (entry.format, entry.verdict) or word in entry.name for word in words
    )


@contextmanager
def _files(options: argparse.Namespace) -> Iterator[Path]:
    if options.files:
        yield options.files
        return
    with tempfile.TemporaryDirectory(prefix="canopy-files-") as name:
        yield Path(name)


@contextmanager
def _instance() -> Iterator[Importer]:
    folder = tempfile.TemporaryDirectory(prefix="canopy-others-")
    with folder as name, importer(Path(name)) as reader:
        yield reader


def _judged(entry: Entry, reader: Importer, files: Path) -> Entry:
    with tempfile.TemporaryDirectory(prefix="canopy-file-") as name:
        path = fetched(entry, files, Path(name))
        imported = reader.read(path, entry.kind)
        found = judge(entry, imported, _by_gdal(path, imported))
    file_format = imported.record.get("format")
    return entry.judged(found.verdict, found.says, found.reason, file_format or _ending(entry))


def _by_gdal(path: Path, imported: Imported) -> by_gdal.Read | None:
    record = imported.record
    return by_gdal.read_layer(path, record.get("format"), record.get("layer"))


def _ending(entry: Entry) -> str:
    return Path(entry.path).suffix.lstrip(".").lower()


def _report(judged: Judged) -> None:
    before, now = judged
    if (before.verdict, before.says) == (now.verdict, now.says):
        return
    word = "WORSE" if judged.is_worse else "changed"
    _say(f"{word:10} {now.name}")
    _say(f"           {before.verdict}: {before.says}")
    _say(f"        →  {now.verdict}: {now.says}")
    if now.reason:
        _say(f"           {now.reason}")


def _summary(judged: Sequence[Judged], missing: int, seconds: float) -> int:
    formats = sorted({str(each.now.format) for each in judged})
    _say(f"\n{'':12}" + "".join(f"{verdict:>17}" for verdict in VERDICTS))
    for name in [*formats, "all"]:
        of_name = [each.now for each in judged if name in ("all", each.now.format)]
        counts = Counter(each.verdict for each in of_name)
        _say(f"{name:12}" + "".join(f"{counts[verdict]:17}" for verdict in VERDICTS))
    worse = sum(each.is_worse for each in judged)
    bad = sum(each.now.verdict in _BAD for each in judged)
    repositories = len({each.now.repository for each in judged})
    _say(
        f"\n{len(judged)} files of {repositories} repositories in {seconds:.0f} s: {worse} worse "
        f"than in the table, {bad} refused badly or lost, {missing} not there"
    )
    return 1 if worse or missing else 0


def _progress(number: int, total: int, entry: Entry) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{number} of {total}  {entry.name[-90:]}")
        sys.stderr.flush()
    elif number % 25 == 0:
        sys.stderr.write(f"{number} of {total}\n")


def _say(line: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
