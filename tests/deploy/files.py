"""The files for operators, taken apart. Functions over their text."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from config import setting_docs
from tests.architecture.sources import ROOT

SETTINGS = {setting.name for setting in setting_docs()}
DEFAULTS = {setting.name: setting.default for setting in setting_docs()}
# Variables of Python itself, which no setting is about.
# What Python and its allocator read, beside our settings.
PYTHONS = {
    "PATH",
    "CANOPY_COMMAND",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "MALLOC_ARENA_MAX",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
}

_ASSIGNMENT = re.compile(r"^(#?)([A-Z_]+)=(.*)$", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{([A-Z_]+)(?::([-?])([^}]*))?\}")


class Instruction(NamedTuple):
    """One of a Dockerfile; ``stage`` counts its FROMs from 1."""

    name: str
    value: str
    stage: int


def text(path: str) -> str:
    return (ROOT / path).read_text()


def instructions(dockerfile: str) -> list[Instruction]:
    """The instructions, with their lines joined and without comments."""
    lines = "\n".join(line for line in dockerfile.splitlines() if not line.lstrip().startswith("#"))
    found: list[Instruction] = []
    stage = 0
    for line in lines.replace("\\\n", " ").splitlines():
        if line.strip():
            name, value = line.split(None, 1)
            stage += name == "FROM"
            found.append(Instruction(name, " ".join(value.split()), stage))
    return found


def copied(dockerfile: str, only: int | None = None) -> dict[str, str]:
    """What is copied from the build context, into one stage if told, with where it goes."""
    pairs = {}
    for name, value, stage in instructions(dockerfile):
        if name == "COPY" and not value.startswith("--from=") and only in (None, stage):
            *sources, target = value.split()
            for source in sources:
                into_folder = target.endswith("/")
                pairs[source] = f"{target}{Path(source).name}" if into_folder else target
    return pairs


def copy(dockerfile: str, stage: int, folder: Path) -> None:
    """Copy to a folder what is copied from the build context into a stage."""
    for source, target in copied(dockerfile, stage).items():
        place = folder / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, place)


def environment(dockerfile: str) -> dict[str, str]:
    """The variables of the last stage, which are those of the image."""
    found = instructions(dockerfile)
    last = found[-1].stage
    words = [shlex.split(i.value) for i in found if i.name == "ENV" and i.stage == last]
    return dict(word.split("=", 1) for line in words for word in line)


def command(dockerfile: str, name: str = "CMD") -> list[str]:
    """The words of CMD, or of the command of HEALTHCHECK. Raises ValueError for the shell form."""
    (value,) = (i.value for i in instructions(dockerfile) if i.name == name)
    words: list[str] = json.loads(value[value.index("[") :])
    return words


def compose() -> dict[str, Any]:
    """compose.yaml, before its variables are filled in."""
    document: dict[str, Any] = yaml.safe_load(text("compose.yaml"))
    return document


def variables(page: str) -> dict[str, tuple[str, str]]:
    """The ``${…}`` of a compose file: their operator (``-``, ``?`` or none) and what follows it."""
    return {name: (operator, rest) for name, operator, rest in _VARIABLE.findall(page)}


def fill(page: str, values: dict[str, str]) -> str:
    """A compose file with its variables filled in, from their defaults where there is no value."""
    return _VARIABLE.sub(lambda found: values.get(found[1]) or found[3] or "", page)


def assignments(env_file: str, *, commented: bool = True) -> dict[str, str]:
    """The variables of an env file, those that are commented out included unless told. Values are
    as Docker Compose and systemd read them, without quotes."""
    found = _ASSIGNMENT.findall(env_file)
    return {name: value.strip('"') for mark, name, value in found if commented or not mark}


def unit(name: str) -> dict[str, list[str]]:
    """The settings of a systemd unit; one may be given several times."""
    found: dict[str, list[str]] = {}
    for line in text(f"deploy/systemd/{name}").splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            found.setdefault(key, []).append(value)
    return found


def units() -> list[str]:
    return sorted(path.name for path in (ROOT / "deploy/systemd").glob("*.service"))


def missing_programs(words: list[str]) -> Iterator[str]:
    """What a Python command runs or reads in the root of the repository, and is not there."""
    rest = words[1:]
    if rest[:1] == ["-m"]:
        module, rest = rest[1], rest[2:]
        if module.startswith("app.") and not _module_exists(module):
            yield module
    for word in rest:
        if word.endswith(".py") and not (ROOT / word).is_file():
            yield word
        if ":" in word and not (ROOT / f"{word.split(':')[0]}.py").is_file():
            yield word


def _module_exists(module: str) -> bool:
    path = ROOT / module.replace(".", "/")
    return path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()


def tool(name: str) -> str | None:
    """A program beside this Python or on PATH."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.is_file() else shutil.which(name)
