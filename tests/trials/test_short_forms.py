"""The trials and benches in their short forms, as commands."""

from __future__ import annotations

import os
import re
import sys

import pytest

from config import ROOT
from tests.captured import captured
from tests.deploy.files import text
from trials import guides

FAULTS = ("locked", "disk-full", "power")
LONG_FAULTS = (
    "valkey", "valkey-absent", "restarts", "worker-kills", "web-kills", "part-kills", "burst",
    "slow-clients", "members",
)  # fmt: skip
BENCHES = {
    "compare": "| conventional |",
    "parts": "| event and entry of the audit log |",
    "growth": "| create |",
    "deliveries": "| event to receipt at 200 events/s, p50 |",
    "exports": "| report for the EUDR, 200 |",
    "imports": "| 1,000 squares.geojson, 0.2 MB |",
    "pages": "| desktop |",
}


def run(*words: str) -> str:
    """What a command prints. It has to succeed."""
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = captured([sys.executable, "-m", *words], cwd=ROOT, env=own)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_list_fits_on_a_screen() -> None:
    lines = run("trials", "--list").splitlines()
    assert 10 < len(lines) <= 24
    assert max(map(len, lines)) <= 100


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_must_hold_holds() -> None:
    assert f"{len(FAULTS)} of {len(FAULTS)} held" in run("trials.faults", "--short", *FAULTS)


def test_the_guides_show_what_their_walk_runs_and_finds() -> None:
    assert all(shown.line() for shown in guides.COMMANDS.values())  # raises LookupError
    for page, promise in guides.PROMISES:
        assert " ".join(promise.split()) in " ".join(text(page).split())
    with pytest.raises(LookupError, match=r"docs/run.md shows no 'bin/bees' below 'Mail'"):
        guides.Shown(guides.RUN, "Mail", "bin/bees").line()


@pytest.mark.trial
@pytest.mark.parametrize("name", LONG_FAULTS)
@pytest.mark.timeout(600)
def test_what_must_hold_holds_in_the_long_ones(name: str) -> None:
    assert "held" in run("trials.faults", "--short", name)


@pytest.mark.trial
@pytest.mark.timeout(900)
def test_heavy_requests_are_answered() -> None:
    assert "beside the worst one" in run("trials.heavy", "--short", "--database", "sqlite")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_programs_read_and_edit_a_small_layer() -> None:
    assert run("trials.clients", "--short").count("\n") >= 3


@pytest.mark.slow
def test_without_firefox_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "nothing was tried" in run("trials.firefox")


@pytest.mark.trial
@pytest.mark.parametrize("name", BENCHES)
@pytest.mark.timeout(600)
def test_every_bench_measures(name: str) -> None:
    assert BENCHES[name] in run(f"bench.{name}", "--quick")


def test_the_hosts_have_the_addresses_that_operators_read() -> None:
    addresses = set(re.findall(r'"(10\.0\.0\.\d+)"', text("trials/machines/deployment.py")))
    files = ("haproxy.cfg", "nginx.conf", "postgresql.conf", "valkey.conf", "sentinel.conf")
    for file in files:
        assert set(re.findall(r"10\.0\.0\.\d+", text(f"deploy/hosts/{file}"))) <= addresses, file
