"""A real browser without a screen: the machine's Chromium, or one that npm brings.

The latter needs glibc and nothing else of the machine, so that these tests run on a fresh one.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from playwright.sync_api import Browser, Error, sync_playwright

from tests.node import NODE, modules

# It speaks to nobody but the pages that it is shown, and draws them itself: a GPU in software takes
# ten times as long.
BACKGROUND: Final = (
    "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-gpu",
)  # fmt: skip
_UNPACK: Final = """
import { brotliDecompressSync } from 'node:zlib';
import { readFileSync, writeFileSync } from 'node:fs';
const [source, target] = process.argv.slice(1);
writeFileSync(target, brotliDecompressSync(readFileSync(source)));
"""
_ARCHIVES: Final = ("al2023.tar", "fonts.tar")


class Chromium(NamedTuple):
    """A browser's program, and how it is started."""

    program: str
    options: tuple[str, ...]
    environment: dict[str, str]


class NoBrowser(Exception):
    """There is none that runs. The message is one sentence, with what to do."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser.

    Raises:
        NoBrowser: there is none that runs.
    """
    found = find()
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=found.program,
                args=[*BACKGROUND, *found.options],
                env={"PATH": os.environ["PATH"]} | found.environment,
            )
        except Error as error:
            reason = error.message.splitlines()[0]
            raise NoBrowser(
                f"{found.program} does not run ({reason}): install Chromium, or set "
                "CANOPY_TEST_CHROMIUM"
            ) from None
        try:
            yield browser
        finally:
            browser.close()


@cache
def find() -> Chromium:
    """CANOPY_TEST_CHROMIUM, or the machine's own, or the one from npm.

    Raises:
        NoBrowser: npm has none for this machine.
    """
    named = os.environ.get("CANOPY_TEST_CHROMIUM", "")
    own = named or shutil.which("chromium") or shutil.which("chromium-browser")
    if own and named != "npm":
        return Chromium(own, (), {"HOME": os.environ.get("HOME", "/")})
    if platform.machine() != "x86_64":
        raise NoBrowser("there is no Chromium here: install one, or set CANOPY_TEST_CHROMIUM")
    folder = _unpacked()
    libraries = {"LD_LIBRARY_PATH": str(folder / "lib"), "FONTCONFIG_PATH": str(folder / "fonts")}
    return Chromium(str(folder / "chromium"), ("--no-zygote",), {"HOME": str(folder), **libraries})


def _unpacked() -> Path:
    source = modules() / "@sparticuz" / "chromium" / "bin"
    folder = modules().parent / "chromium"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "chromium").is_file():
            for name in _ARCHIVES:
                _unpack(source / f"{name}.br", folder / name)
                with tarfile.open(folder / name) as archive:
                    if hasattr(tarfile, "data_filter"):  # not before Python 3.11.4
                        archive.extraction_filter = tarfile.data_filter
                    archive.extractall(folder)
                (folder / name).unlink()
            _unpack(source / "chromium.br", folder / "draft")
            (folder / "draft").chmod(0o755)
            (folder / "draft").rename(folder / "chromium")
    return folder


def _unpack(source: Path, target: Path) -> None:
    """A file without its compression by brotli, which Python has not."""
    command = [str(NODE), "--input-type=module", "--eval", _UNPACK, str(source), str(target)]
    subprocess.run(command, check=True)
