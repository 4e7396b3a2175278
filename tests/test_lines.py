"""``bin/lines`` counts what is code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.captured import captured

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
    "app/bees/templates/hive.html": "{# A\ncomment. #}\n<p>\n\n{{ bees }}</p>\n",
    "app/bees/static/hive.js": "/* A\ncomment. */\n// And one.\nfly()\n",
    "app/bees/static/hive.css": "p {\n  color: red;\n}\n",
    "app/bees/static/third_party/swarm.js": "fly()\n",
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
    return captured(command, check=True).stdout


def counted(files: int, python: int, *others: int) -> dict[str, int]:
    javascript, css, templates = others or (0, 0, 0)
    return {"files": files, "python": python, "javascript": javascript, "css": css,
            "templates": templates}  # fmt: skip


def test_counts_code(checkout: Path) -> None:
    assert json.loads(lines(checkout, "--json")) == {
        "packages": {
            "app/__init__.py": counted(1, 0),
            "app/bees/": counted(5, 10, 1, 3, 2),
            "app/core.py": counted(1, 1),
            "app/factory.py": counted(1, 9),
            "config.py": counted(1, 1),
        },
        "total": counted(9, 21, 1, 3, 2),
        "operations": 2,
        "pages": 1,
        "per_operation_or_page": 7.0,
        "tests": counted(1, 2),
    }


def test_counts_an_application_that_cannot_be_loaded(checkout: Path) -> None:
    (checkout / "app/factory.py").unlink()
    *table, _, reason = lines(checkout).splitlines()
    assert [row.split() for row in table[-3:]] == [
        ["config.py", "1", "1", "0", "0", "0"],
        ["total", "8", "12", "1", "3", "2"],
        ["tests/", "1", "2", "0", "0", "0"],
    ]
    assert reason == "The application cannot be loaded: operations and pages are not counted."
