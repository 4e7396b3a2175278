"""The comparison with pygeoapi, and how pygeoapi is installed for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.pygeoapi import environment
from bench.pygeoapi.environment import NotInstalled
from config import ROOT
from tests.bench.test_commands import run

UNKNOWN = f"no-such-forest==1.0 --hash=sha256:{'0' * 64}\n"


@pytest.mark.trial
@pytest.mark.skipif(
    not environment.is_installed(), reason="python -m bench.beside_pygeoapi installs pygeoapi"
)
def test_runs_beside_pygeoapi() -> None:
    done = run("-m", "bench.beside_pygeoapi", "--quick")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\| a page of 100 \| pygeoapi [\d.]+, PostgreSQL \|", done.stdout, re.M)


def test_says_in_one_line_that_it_cannot_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(UNKNOWN)
    for _ in range(2):  # what was left half-made does not count as installed
        with pytest.raises(NotInstalled, match=r"^pygeoapi cannot be installed: .*forest.*$"):
            environment.python(tmp_path / "made", requirements)


def test_is_installed_once(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# nothing\n")
    python = environment.python(tmp_path / "made", requirements)
    kept = tmp_path / "made" / "kept"
    kept.touch()
    assert environment.python(tmp_path / "made", requirements) == python
    assert kept.exists()
    requirements.write_text("# something else\n")
    environment.python(tmp_path / "made", requirements)
    assert not kept.exists()


def test_runs_on_the_versions_that_canopy_runs_on() -> None:
    pinned = [
        dict(re.findall(r"^([\w-]+)==([\w.]+)", path.read_text(), re.M))
        for path in (ROOT / "requirements.txt", environment.REQUIREMENTS)
    ]
    for name in ("flask", "gunicorn", "sqlalchemy", "werkzeug"):
        assert pinned[0][name] == pinned[1][name]
