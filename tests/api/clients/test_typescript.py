"""``openapi-typescript`` makes types from the description, and ``openapi-fetch`` calls by them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.api.clients import printed, run_node
from tests.api.clients.conftest import Instance

TOOL = "node_modules/openapi-typescript/bin/cli.js"
COMPILER = "node_modules/typescript/bin/tsc"
STRICT = (
    *("--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022"),
    *("--module", "nodenext", "--lib", "es2022,dom,dom.iterable", "--types", "null"),
    *("--allowImportingTsExtensions", "--skipLibCheck"),
)


@pytest.fixture(scope="module")
def program(instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the program, with the types that were made."""
    folder = tmp_path_factory.mktemp("typescript")
    shutil.copy(Path(__file__).with_name("program.ts"), folder)
    (folder / "package.json").write_text('{"type": "module"}')
    made = run_node(folder, TOOL, instance.document, "--output", "api.ts")
    assert made.returncode == 0, made.stderr
    assert "warn" not in f"{made.stdout}{made.stderr}".lower()
    return folder


@pytest.mark.slow
def test_the_types_compile_with_a_program(program: Path) -> None:
    """The program says, too, which mistakes the types must find (``@ts-expect-error``)."""
    done = run_node(program, COMPILER, *STRICT, "program.ts")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.trial
def test_the_program_works(program: Path, instance: Instance) -> None:
    done = run_node(program, "program.ts", ADDRESS=instance.address, KEY=instance.key)
    assert printed(done) == {
        "created": "Cottage Grove",
        "listed": ["Cottage Grove", "Diamond Lake", "Tiller"],
        "first_slug": "tiller",
        "some_fields": ["id", "name"],
        "page_of_many": {"total": 3, "page": 1, "per_page": 2, "total_pages": 2},
        "changed": "archived",
        "stale": [412, "PRECONDITION_FAILED"],
        "sent_back": True,
        "refused": [422, "VALIDATION_ERROR", "name"],
        "not_there": [404, "NOT_FOUND"],
        "without_key": [401, False],
        "by_metadata": 1,
        "exported_gpkg": "SQLite for",
        "exported_csv": "id,name,sl",
        "exported_kml": "<?xml vers",
        "exported_geojson": '{"type":"F',
        "asset": "Weather station 4",
        "problems": ["not_closed", "not_closed"],
        "events": ["project.created", "project.created", "project.created"],
        "webhook": ["*", None],
        "deleted": 204,
    }
