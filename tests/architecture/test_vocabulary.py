"""Names that the code gave up for standard terms do not come back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

# What is not to be found, and what is said instead. Words of one meaning stand together.
REPLACED = {
    r"Parcel|ClaimedParcel": "ClaimedDelivery",
    r"Course": "WebhookQueue",
    r"Drain": "Dispatcher",
    r"Bell|[Bb]ells|rung": "WakeSignal, notify",
    r"Ticker|ticker": "Scheduler",
    r"Prepared": "CompiledQuery",
    r"ShownTime|WrittenTime": "ApiTimestamp, RawTimestamp",
    r"NotHere|Picked": "ReadOnlyHere, PartialSchema",
    r"Repeatable": "IdempotentRequest",
    r"NotTheirs|SentBack": "EmailTaken, RedirectWithError",
    r"Trouble|[a-z_]*_trouble": "failure",
    r"Rung|Survey|Tally": "Threshold, FileScan, TableChecksum",
    r"floors?|side door": "layer",
    r"the house|this room|other rooms|a room of": "architecture, package",
    r"[Tt]he store": "Valkey",
    r"at hand|amounts to": "current, equals",
    r"[Ll]ifelines?|[Bb]rakes?": "parent pipe, login throttle",
    r"[A-Z_]*_REFUSALS|already_there|count_refusal": "rejections, already_present",
    r"canopy_store|store clock": "canopy_valkey, valkey clock",
}
FILES = ("app/**/*.py", "bench/**/*.py", "*.py", "docs/**/*.md", "README.md", "CONTRIBUTING.md")


def old_words(files: Mapping[str, str]) -> Iterator[str]:
    """Each line with a word of ``REPLACED``, and what to write instead.

    Args:
        files: the text of each, by its path from the root.
    """
    for words, instead in REPLACED.items():
        pattern = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])")
        for path, text in files.items():
            for number, line in enumerate(text.splitlines(), 1):
                if found := pattern.search(line):
                    yield f"{path}:{number} says {found[0]!r}; say {instead}"


def test_old_words_do_not_come_back() -> None:
    paths = {path for pattern in FILES for path in ROOT.glob(pattern)}
    files = {str(path.relative_to(ROOT)): Path(path).read_text() for path in sorted(paths)}
    assert list(old_words(files)) == []


@pytest.mark.parametrize("line", ["class Drain:", "# the house has floors", "bells = 1"])
def test_an_old_word_is_seen(line: str) -> None:
    assert list(old_words({"app/bees.py": line}))


def test_a_part_of_a_word_is_not_an_old_word() -> None:
    assert not list(old_words({"app/bees.py": "seafloors Drainage"}))
