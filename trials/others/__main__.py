"""Compare what Canopy reads of some 370 files of public repositories with what GDAL reads.

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
from trials.report import say

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
    table = read_table()
    chosen = [entry for entry in table if options.only in entry.name]
    began, judged, missing = time.monotonic(), list[Judged](), 0
    with _files(options) as files, _instance() as reader:
        for entry in chosen:
            try:
                now = _judged(entry, reader, files)
            except NotThere as error:
                say(f"NOT THERE  {entry.name}: {error}")
                missing += 1
                continue
            judged.append(Judged(entry, now))
            _report(judged[-1])
    if options.write:
        found = {each.before.name: each.now for each in judged}
        write_table([found.get(entry.name, entry) for entry in table])
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
    parser.add_argument("--only", default="", metavar="WORD", help="files with this in their name")
    parser.add_argument(
        "--write", action="store_true", help="put what was found into the table; look at it then"
    )
    return parser.parse_args()


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
    say(f"{word:10} {now.name}")
    say(f"           {before.verdict}: {before.says}")
    say(f"        →  {now.verdict}: {now.says}")
    if now.reason:
        say(f"           {now.reason}")


def _summary(judged: Sequence[Judged], missing: int, seconds: float) -> int:
    formats = sorted({str(each.now.format) for each in judged})
    say(f"\n{'':12}" + "".join(f"{verdict:>17}" for verdict in VERDICTS))
    for name in [*formats, "all"]:
        of_name = [each.now for each in judged if name in ("all", each.now.format)]
        counts = Counter(each.verdict for each in of_name)
        say(f"{name:12}" + "".join(f"{counts[verdict]:17}" for verdict in VERDICTS))
    worse = sum(each.is_worse for each in judged)
    bad = sum(each.now.verdict in _BAD for each in judged)
    repositories = len({each.now.repository for each in judged})
    say(
        f"\n{len(judged)} files of {repositories} repositories in {seconds:.0f} s: {worse} worse "
        f"than in the table, {bad} refused badly or lost, {missing} not there"
    )
    return 1 if worse or missing else 0


if __name__ == "__main__":
    sys.exit(main())
