"""``openapi-python-client`` makes a package from the description."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.api.clients import printed, run
from tests.api.clients.conftest import Instance

TOOL = Path(sys.executable).with_name("openapi-python-client")
# The tool formats with ruff what it made.
WITH_RUFF = f"{TOOL.parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(scope="module")
def package(instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package ``canopy_client``."""
    folder = tmp_path_factory.mktemp("python")
    options = ("--meta", "none", "--fail-on-warning", "--output-path", "canopy_client")
    made = run(folder, TOOL, "generate", "--url", instance.document, *options, PATH=WITH_RUFF)
    assert (made.returncode, made.stdout.strip()) == (0, "Generating canopy_client"), made.stdout
    return folder


@pytest.mark.slow
def test_the_package_works(package: Path, instance: Instance) -> None:
    program = Path(__file__).with_name("program.py")
    environ = {"PYTHONPATH": str(package), "ADDRESS": instance.address, "KEY": instance.key}
    assert printed(run(package, sys.executable, "-P", program, **environ)) == {
        "created": ["Cottage Grove", "Polygon", "active"],
        "listed": ["Cottage Grove", "Diamond Lake", "Tiller"],
        "some_fields": ["ProjectFields", "Tiller"],
        "changed": "archived",
        "stale": [412, "PRECONDITION_FAILED"],
        "refused": [422, "VALIDATION_ERROR", "name"],
        "not_there": [404, "NOT_FOUND"],
        "without_key": [401, False],
        "exported": ["Cottage Grove", "Diamond Lake", "Tiller"],
        "exported_gpkg": "SQLite for",
        "exported_csv": "id,project",
        "exported_kml": "<?xml vers",
        "by_metadata": 1,
        "asset": ["Weather station 4", [8.5, 48.2]],
        "problems": ["not_closed", "not_closed"],
        "events": ["project.created", "project.created", "project.created"],
        "kinds": True,
        "webhook": ["*", "healthy", None],
        "deleted": 204,
    }
