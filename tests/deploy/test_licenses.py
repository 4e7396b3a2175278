"""What the service needs may be distributed with it, in the image too."""

from __future__ import annotations

import re
from contextlib import suppress
from importlib import metadata
from typing import Final

from tests.deploy.files import text

# As packages write them: SPDX names, or the classifiers of older ones. Copyleft ends at files (MPL)
# or at a library that is replaceable, as each package of Python is (LGPL).
ALLOWED: Final = {
    "0BSD", "Apache-2.0", "Apache Software License", "BSD License", "BSD-2-Clause", "BSD-3-Clause",
    "CC0-1.0", "ISC", "ISC License (ISCL)", "LGPL-3.0-only", "MIT", "MIT License", "MIT-0",
    "MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)", "PSF-2.0", "Zlib",
}  # fmt: skip
_NAMES: Final = re.findall(r"^([\w.-]+)(?:\[.*?\])?==", text("requirements.txt"), re.MULTILINE)


def licenses(package: str) -> list[str]:
    """Each license that an installed package names."""
    found = metadata.metadata(package)
    if expression := found.get("License-Expression"):
        return re.split(r" (?:AND|OR|WITH) ", re.sub("[()]", "", expression))
    classifiers = [name for name in found.get_all("Classifier", []) if name.startswith("License")]
    return [name.split(" :: ")[-1] for name in classifiers] or [found.get("License", "none")]


def test_the_licenses_of_the_dependencies_are_allowed() -> None:
    assert len(_NAMES) > 40
    for package in _NAMES:
        # Some are for other systems or other versions of Python.
        with suppress(metadata.PackageNotFoundError):
            assert set(licenses(package)) <= ALLOWED, package


def test_licenses_are_found() -> None:
    assert licenses("orjson") == ["MPL-2.0", "Apache-2.0", "MIT"]
    assert licenses("anyascii") == ["ISC License (ISCL)"]
