"""Every bench runs, in little time and on little data, and refuses what it could not measure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.instance import polygon
from config import ROOT

COMMANDS = {
    "bench.http --quick": "| `GET /v1/projects/{id}`",
    "bench.parts --quick": "| event and entry of the audit log |",
    "bench.compare --quick": "| conventional |",
    "bench.spreading --quick": "Spread evenly",
    "bench.deliveries --quick": "| event to receipt at 200 events/s, p50 |",
    "bench.growth --sizes 200 --alone --seconds 0.01": "over HTTP: usage",
    "bench.retention --events 2000 --seconds 1": "must stay, 0 are gone; 0 expired rows are left",
    "bench.exports --quick": "| report for the EUDR, 200 |",
    "bench.map --quick": "| everything, zoom 8 |",
    "bench.pages --quick": "| list and shapes shown |",
    "bench.page_quality --quick": "| desktop |",
    "bench.reading --quick": "| `Session.scalars`, an object |",
    "bench.audit_log --quick": "| export and verification |",
    "bench.weight --settle 1 --idle 2": "| postgresql --small |",
    "bench.weight --traffic 0.2 --settle 1 --idle 1": "requests a second: {200: ",
    "bench.written": "| import 1,000 features, 50 webhooks |",
    "bench.webhook_log --quick": "| charts of 30 days |",
}
ELSEWHERE = {"bench.areas", "bench.beside_pygeoapi"}


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=own | environ,
        capture_output=True,
        text=True,
        timeout=200,
    )


@pytest.mark.trial
@pytest.mark.parametrize("command", COMMANDS)
def test_every_bench_runs(command: str) -> None:
    done = run("-m", *command.split())
    assert done.returncode == 0, done.stderr
    assert COMMANDS[command] in done.stdout


def test_every_bench_is_listed() -> None:
    """A module with a command of its own is run above, or by a test of its own."""
    commands = {
        f"bench.{path.stem}"
        for path in (ROOT / "bench").glob("*.py")
        if '__name__ == "__main__"' in path.read_text()
    }
    assert commands == {command.split()[0] for command in COMMANDS} | ELSEWHERE


@pytest.mark.trial
def test_areas(tmp_path: Path) -> None:
    crossing = [[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]
    boundaries = [polygon(9, west) for west in (1, 2)]
    boundaries.append({"type": "Polygon", "coordinates": [crossing]})
    features = [
        {
            "type": "Feature",
            "properties": {"district": f"District {number}", "gis_acres": 300_000},
            "geometry": boundary,
        }
        for number, boundary in enumerate(boundaries)
    ]
    file, page = tmp_path / "districts.geojson", tmp_path / "areas.md"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    done = run("-m", "bench.areas", str(file), "--into", str(page))
    assert done.returncode == 0, done.stderr
    assert "2 of 3 districts" in page.read_text()
    assert "| District 2 |" in page.read_text().partition("## Areas")[0]


@pytest.mark.trial
def test_a_server_that_answers_with_errors_ends_the_run(tmp_path: Path) -> None:
    """A replacement that fits and fails: 500 from the first request of the first round on."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "if 'gunicorn' in ' '.join(sys.orig_argv):\n"
        "    from app.projects import reading\n"
        "    def fail(account_id, project_id):\n"
        "        raise ZeroDivisionError\n"
        "    reading.read_project = fail\n"
    )
    done = run("-m", "bench.http", "--quick", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert done.returncode == 1
    assert "Unexpected answer: HTTP/1.1 500" in done.stderr
    assert '"code":"INTERNAL_ERROR"' in done.stderr
    assert "ZeroDivisionError" in done.stderr
