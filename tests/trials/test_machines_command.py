"""What the command says before it begins."""

from __future__ import annotations

import os
import re

import pytest

from tests.deploy.files import text
from trials.machines import __main__ as command
from trials.machines.topology import ADDRESSES, ANY_OF_THREE, WEB_PORT
from trials.machines.trials import TRIALS


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["machines", *arguments])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return command.main()


def test_it_needs_root(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch) == 2
    assert "needs root" in capsys.readouterr().err


def test_help_lists_the_trials(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        call(monkeypatch, "--help")
    shown = capsys.readouterr().out
    assert all(f"  {trial.name} " in shown and trial.description in shown for trial in TRIALS)


def test_an_unknown_trial_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        call(monkeypatch, "web-lost")
    assert "no such trial: web-lost" in capsys.readouterr().err


def test_a_program_that_cannot_be_had_is_named() -> None:
    assert command._missing(["haproxy", "sh"], {}) in (["haproxy"], [])
    assert command._missing(["no-such-program", "sh"], {}) == ["no-such-program"]


def test_the_hosts_have_the_addresses_that_operators_read() -> None:
    for file, names in {
        "haproxy.cfg": ("web1", "web2"),
        "nginx.conf": ("web1", "web2"),
        "postgresql.conf": ("db1", "db2", "db3"),
        "valkey.conf": ("valkey1",),
        "sentinel.conf": ("valkey1", "valkey2", "valkey3"),
    }.items():
        found = set(re.findall(r"10\.0\.0\.\d+", text(f"deploy/hosts/{file}")))
        assert {ADDRESSES[name] for name in names} == found, file
    for file in ("haproxy.cfg", "nginx.conf"):
        assert f"{ADDRESSES['web1']}:{WEB_PORT}" in text(f"deploy/hosts/{file}")
    assert ANY_OF_THREE in text("deploy/hosts/postgresql.conf")
