"""Reads whole files in tests."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.formats.features import FileInvalid, FormatReader, SourceFeature
from tests.architecture.sources import ROOT
from tests.captured import captured

Opener = Callable[[Path], FormatReader]


def features(
    reader: FormatReader, layer: int | str = 0, crs: str | None = None
) -> list[SourceFeature]:
    """All features of a layer, by its number or its name."""
    found = {one.name: one for one in reader.layers}
    return list(
        reader.read_features(found[layer] if isinstance(layer, str) else reader.layers[layer], crs)
    )


def only_feature(open_file: Opener, path: Path) -> SourceFeature:
    with closing(open_file(path)) as reader:
        (feature,) = features(reader)
    return feature


def geometry_of(open_file: Opener, path: Path) -> Any:
    feature = only_feature(open_file, path)
    assert feature.problems == ()
    return feature.geometry


def problem_of(open_file: Opener, path: Path) -> tuple[str, str]:
    """The code and the message of the only problem of the only feature."""
    feature = only_feature(open_file, path)
    (problem,) = feature.problems
    assert feature.geometry is None
    return problem.code, problem.message


def refusal(open_file: Opener, path: Path) -> str:
    """Why a file cannot be opened, or one of its layers not be read to its end."""
    with pytest.raises(FileInvalid) as refused:
        _read_all(open_file, path)
    return str(refused.value)


def _read_all(open_file: Opener, path: Path) -> None:
    with closing(open_file(path)) as reader:
        for layer in reader.layers:
            for _ in reader.read_features(layer):
                pass


def read_in_child(path: Path, *, memory: int, seconds: int = 20) -> str:
    """Open a file and read all its features in a process of its own.

    Args:
        memory: bytes beyond those that the process has before it opens the file.

    Returns:
        What it printed: the number of features, or the message of FileInvalid.
    """
    code = """
import resource, sys
from pathlib import Path
from app.formats.features import FileInvalid
from app.formats.readers.opening import open_file
here = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
memory, seconds = map(int, sys.argv[2:])
resource.setrlimit(resource.RLIMIT_AS, (here + memory, here + memory))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
try:
    reader = open_file(Path(sys.argv[1]))
    print(sum(1 for layer in reader.layers for _ in reader.read_features(layer)))
except FileInvalid as error:
    print(error)
"""
    arguments = [sys.executable, "-c", code, str(path), str(memory), str(seconds)]
    done = captured(arguments, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:] or done.returncode
    return done.stdout.strip()
