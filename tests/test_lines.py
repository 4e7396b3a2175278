"""``bin/lines`` counts what is code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

FILES = {
    "app/__init__.py": '"""Nothing but a docstring."""\n',
    "app/core.py": "from app.bees import (\n    hive,\n)\n\nHIVE = hive  # one line\n",
    "app/bees/hive.py": '''\
"""A docstring
of two lines."""

import os, sys


class Hive:
    """Another one."""

    # A comment.
    text = """two lines,

    as the one between is blank"""

    def fill(
        self,
    ) -> None:
        import time

        return time.sleep(
            1
        )
''',
    "app/bees/comb/wax.py": "x = 1; y = 2\n",
    "app/bees/hive.html": "<p>\n",
    "app/factory.py": """\
import flask

class PageBlueprint(flask.Blueprint):
    pass

def create_app(settings):
    pages, app = PageBlueprint("bees", __name__), flask.Flask(__name__)
    pages.add_url_rule("/bees", "bees", methods=["GET", "POST"])
    pages.add_url_rule("/bees/leave", "leave", methods=["POST"])
    app.register_blueprint(pages)
    app.add_url_rule("/v1/bees", "v1", methods=["GET", "POST"])
    return app
""",
    "config.py": "load_settings = dict\n",
    "other.py": "x = 1\n",
    "tests/bees/test_hive.py": "def test() -> None:\n    assert 1\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def lines(*arguments: str | Path) -> str:
    command = [ROOT / "bin/lines", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_counts_code(checkout: Path) -> None:
    assert json.loads(lines(checkout, "--json")) == {
        "packages": {
            "app/__init__.py": {"files": 1, "lines": 0},
            "app/bees/": {"files": 2, "lines": 10},
            "app/core.py": {"files": 1, "lines": 1},
            "app/factory.py": {"files": 1, "lines": 9},
            "config.py": {"files": 1, "lines": 1},
        },
        "total": {"files": 6, "lines": 21},
        "operations": 2,
        "pages": 1,
        "per_operation_or_page": 7.0,
        "tests": {"files": 1, "lines": 2},
    }


def test_counts_an_application_that_cannot_be_loaded(checkout: Path) -> None:
    (checkout / "app/factory.py").unlink()
    *table, _, reason, tests = lines(checkout).splitlines()
    assert [row.split() for row in table[-2:]] == [["config.py", "1", "1"], ["total", "5", "12"]]
    assert reason == "The application cannot be loaded: operations and pages are not counted."
    assert tests == "2 lines in 1 files of tests/"
