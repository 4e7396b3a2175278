"""Single checks of the doctor: of the host, the settings and Valkey."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from redis import Redis
from rq import Worker

from app.doctor.checks import host, valkey
from app.doctor.checks.database import compare_clock
from app.doctor.doctor import run_checks
from app.doctor.findings import Status
from app.jobs.queue import DELIVERIES, QUEUES, job_queue
from app.jobs.valkey import connect_valkey
from app.limits.request_counts import CHANGED
from app.processes.part_registry import RunningPart, _announce_part
from app.security.sealing import key_check
from app.site import static_files
from app.values import clock
from config import ROOT, load_settings
from tests.doctor.test_doctor import environ_of, findings_of
from tests.maintenance.conftest import MakeInstance
from tests.make import make_account, make_webhook
from tests.waiting import wait_for

BEHIND_A_PROXY = {
    "CANOPY_ENV": "production",
    "PUBLIC_URL": "https://c.example",
    "TRUSTED_PROXIES": "1",
}
SUPPORT = {"SUPPORT_EMAIL": "help@c.example"}
NOT_WISE = {
    "production with PUBLIC_URL=http:": {"CANOPY_ENV": "production", **SUPPORT},
    "SUPPORT_EMAIL is unset": BEHIND_A_PROXY,
    "requests are not limited": {"RATE_LIMIT_DISABLED": "true"},
    "there is no chat": {"CHAT_MODEL": "forest-1"},
    "TRUSTED_PROXIES is 0": {"PUBLIC_URL": "https://canopy.example"},
    "can forge their address": {"TRUSTED_PROXIES": "1", "HOST": "0.0.0.0"},
    "admins of every account can have requests sent to addresses in these networks": {
        **BEHIND_A_PROXY, **SUPPORT, "WEBHOOK_ALLOWED_NETWORKS": "10.0.0.0/8",
    },
}  # fmt: skip


def test_settings_that_are_not_wise_are_warned_of(
    make_instance: MakeInstance, subtests: pytest.Subtests
) -> None:
    environ = environ_of(make_instance("sqlite"))
    for words, variables in NOT_WISE.items():
        with subtests.test(words):
            found = host.check_settings(load_settings(environ | variables))
            (warned,) = [each for each in found if each.advice]
            assert warned.status is Status.WARNING
            assert words in warned.found


@pytest.mark.slow
def test_a_setting_of_former_versions_is_warned_of(make_instance: MakeInstance) -> None:
    environ = environ_of(make_instance("sqlite")) | {"DATABASE_REPLICA_URL": "postgresql://h/d"}
    found = findings_of(environ)["settings"]
    assert found.status is Status.WARNING
    assert found.found == "DATABASE_REPLICA_URL is set, and no longer used: reads go to the primary"
    told = list(run_checks(environ | {"SMTP_HOST": "h", "SIGNUP": "no"}, names=["SMTP_HOST"]))
    unknown = [each.found for each in told if each.found.startswith("S") and each.advice]
    assert unknown == ["SIGNUP is no setting; is it meant as SIGN_UP?", "SMTP_HOST is no setting"]


def test_what_webhooks_may_reach_is_told(
    make_instance: MakeInstance, subtests: pytest.Subtests
) -> None:
    environ = environ_of(make_instance("sqlite")) | BEHIND_A_PROXY
    for networks, others, status in (
        ("10.0.0.0/8", {"CANOPY_ENV": "development"}, Status.OK),
        ("10.0.0.0/8,127.0.0.0/8", {"SIGN_UP": "closed"}, Status.PROBLEM),
        ("127.0.0.1/32", {}, Status.PROBLEM),
        ("0.0.0.0/0", {}, Status.PROBLEM),
        ("169.254.0.0/16", {}, Status.PROBLEM),
        ("::1/128", {}, Status.PROBLEM),
        ("fd00::/8", {}, Status.WARNING),
        ("fd00::/8", {"SIGN_UP": "invited"}, Status.OK),
    ):
        with subtests.test(f"{networks} {others}"):
            settings = load_settings(environ | others | {"WEBHOOK_ALLOWED_NETWORKS": networks})
            (found,) = [each for each in host.check_settings(settings) if "WEBHOOK" in each.found]
            assert found.status is status
            assert f"WEBHOOK_ALLOWED_NETWORKS={networks}: " in found.found
            assert ("this machine's own" in found.found) is (status is Status.PROBLEM)


@pytest.mark.slow
def test_the_file_of_plans(make_instance: MakeInstance, tmp_path: Path) -> None:
    path = tmp_path / "plans.toml"
    variables = environ_of(make_instance("sqlite")) | {"PLANS_FILE": str(path)}
    path.write_text("[gold]\n[silver]\n")
    found = "free, pro, enterprise, gold, silver; new accounts are on free"
    assert findings_of(variables)["plans"].found == found


def test_sign_up_and_support_are_told(make_instance: MakeInstance) -> None:
    environ = environ_of(make_instance("sqlite"))
    said = [found.found for found in host.check_settings(load_settings(environ))]
    assert any("SUPPORT_EMAIL is unset" in line and "security.txt" in line for line in said)
    assert not any("SIGN_UP" in line for line in said)
    production = load_settings(environ | {"CANOPY_ENV": "production"})
    said = [found.found for found in host.check_settings(production)]
    assert "SIGN_UP=open: anybody can sign up and create accounts" in said


@pytest.mark.parametrize(
    ("name", "mode", "status"),
    [
        (".", 0o755, Status.WARNING),
        (".", 0o770, Status.PROBLEM),
        (".", 0o707, Status.PROBLEM),
        ("secret_key", 0o640, Status.PROBLEM),
        ("secret_key", 0o600, Status.OK),
    ],
)
def test_the_rights_of_the_instance_folder(
    make_instance: MakeInstance, name: str, mode: int, status: Status
) -> None:
    app = make_instance("sqlite")
    (app.config["SETTINGS"].instance_path / name).chmod(mode)
    found = findings_of(environ_of(app))["instance folder"]
    assert found.status is status
    assert ("chmod" in found.advice) is (status is not Status.OK)


@pytest.mark.parametrize(
    ("free", "status"), [(50, Status.PROBLEM), (500, Status.WARNING), (5000, Status.OK)]
)
def test_the_room_on_the_disk(
    make_instance: MakeInstance, monkeypatch: pytest.MonkeyPatch, free: int, status: Status
) -> None:
    settings = make_instance("sqlite").config["SETTINGS"]
    usage: Any = type("Usage", (), {"free": free * 1024**2})
    monkeypatch.setattr(host.shutil, "disk_usage", lambda _: usage)
    (found,) = host.check_disk(settings)
    assert found.status is status


def test_files_of_the_pages_that_were_not_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("_STAMP", "_GUIDES"):
        stamp = folder / name
        monkeypatch.setattr(static_files, name, stamp)
        stamp.touch()
    assert [each.status for each in host.made_files()] == [Status.OK]
    (folder / "_GUIDES").unlink()
    (found,) = host.made_files()
    assert (found.status, found.found) == (
        Status.WARNING,
        "The pages lack the guides at /docs/guides.",
    )
    assert found.advice == f"Run: python3 {ROOT}/bin/_third_party.py"
    (folder / "_STAMP").unlink()
    static_files.init_app(Flask(__name__))
    sentence = "The pages lack the browser code of the maps and the guides at /docs/guides."
    assert caplog.messages == [f"{sentence} {found.advice}"]


def test_packages_that_are_not_as_locked_are_found(folder: Path) -> None:
    lock = folder / "requirements.txt"
    lock.write_text(
        "flask==0.1 \\\n    --hash=sha256:00\n    # via x\n"
        "no-such-package==1.0\n"
        "numpy==0.1 ; python_full_version < '3'\nnumpy==0.2 ; python_full_version >= '3'\n"
        "no-such-windows-package==1.0 ; sys_platform == 'win32'\n"
    )
    (found,) = host.check_dependencies(lock)
    assert found.status is Status.PROBLEM
    assert "flask is 3" in found.found
    assert "no-such-package is missing instead of 1.0" in found.found
    assert "instead of 0.1 or 0.2" in found.found
    assert "windows" not in found.found


@pytest.fixture
def redis(valkey_url: str) -> Iterator[Redis]:
    """A database of the test's Valkey that nobody else uses."""
    client = Redis.from_url(valkey_url, db=9)
    yield client
    client.flushdb()
    client.close()


def _only(check: Callable[[Redis], Iterator[Any]], client: Redis) -> Any:
    (found,) = check(client)
    return found


def test_a_worker_that_lives_and_one_that_died(redis: Redis) -> None:
    assert [found.status for found in valkey.check_workers(redis)] == [Status.WARNING] * len(QUEUES)
    worker = Worker([job_queue(redis, DELIVERIES)], connection=redis)
    worker.register_birth()
    general, deliveries, *_ = valkey.check_workers(redis)
    assert general.found == (
        "The queue canopy has no worker: request counts are not saved, and old rows are not "
        "deleted; 0 jobs are waiting"
    )
    assert deliveries.found == "1 for the queue canopy-deliveries, 0 jobs waiting"
    redis.hset(worker.key, "last_heartbeat", "2026-01-01T00:00:00.000000Z")
    _, deliveries, *_ = valkey.check_workers(redis)
    assert deliveries.status is Status.WARNING
    assert "The queue canopy-deliveries has no worker: events are not delivered" in deliveries.found


def test_a_queue_that_is_long(redis: Redis) -> None:
    queue = job_queue(redis)
    Worker([queue], connection=redis).register_birth()
    redis.rpush(queue.key, *range(1001))
    general, *_ = valkey.check_workers(redis)
    assert general.status is Status.WARNING
    assert general.found == "1,001 jobs are waiting in the queue canopy"


@pytest.mark.parametrize(("days", "status"), [(0, Status.OK), (1, Status.OK), (2, Status.WARNING)])
def test_counts_that_the_job_does_not_copy(redis: Redis, days: int, status: Status) -> None:
    day = (clock.now() - timedelta(days=days)).date().isoformat()
    redis.sadd(CHANGED, f"acct_x {day}")
    assert _only(valkey.request_counts, redis).status is status


def test_clocks_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0)
    assert compare_clock("Valkey", time.time() - 0.5).status is Status.OK
    late = compare_clock("Valkey", time.time() - 2)
    assert late.status is Status.WARNING
    assert "2.0 s behind" in late.found
    assert "ahead" in compare_clock("database", time.time() + 60).found


def test_the_clock_of_the_store_is_asked(redis: Redis) -> None:
    wait_for(lambda: "Valkey's clock is 0." in _only(valkey.server_clock, redis).found)


def test_a_slow_server_is_told_from_none(
    redis: Redis, make_instance: MakeInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(environ_of(make_instance("sqlite")))
    with monkeypatch.context() as patch:
        patch.setattr(valkey, "TIMEOUT_SECONDS", 0.0)  # every server is slow
        _, slow = valkey.check_valkey_server(redis, settings)
    assert slow.status is Status.WARNING
    assert slow.found.startswith("Valkey took ")
    assert "the service waits for 0.0 s" in slow.found
    (quick,) = valkey.check_valkey_server(redis, settings)
    assert quick.status is Status.OK


@pytest.mark.slow
def test_values_that_another_key_encrypted_are_found(make_instance: MakeInstance) -> None:
    app = make_instance("sqlite")
    make_webhook(make_account(app))
    environ = environ_of(app)
    sound = findings_of(environ)["encrypted values"]
    assert (sound.status, sound.found) == (
        Status.OK,
        "the current SECRET_KEY can decrypt all encrypted values (1)",
    )
    other = environ | {"SECRET_KEY": "another key, of more than 32 characters"}
    lost = findings_of(other)["encrypted values"]
    assert lost.status is Status.PROBLEM
    assert "1 in webhooks" in lost.found
    assert "SECRET_KEY_FORMER" in lost.advice
    former = other | {"SECRET_KEY_FORMER": environ["SECRET_KEY"]}
    left = findings_of(former)["encrypted values"]
    assert left.status is Status.WARNING
    assert "Values still encrypted with SECRET_KEY_FORMER: 1" in left.found
    assert "secret-key finish" in left.advice


def test_parts_with_another_key_are_found(make_instance: MakeInstance, valkey_url: str) -> None:
    environ = environ_of(make_instance("sqlite")) | {"REDIS_URL": f"{valkey_url}?db=6"}
    assert findings_of(environ)["secret keys"].status is Status.OK
    part = RunningPart("web server", "forest-1", 42, key_check(environ["SECRET_KEY"]))
    with connect_valkey(environ["REDIS_URL"]) as client:
        _announce_part(client, part)
        sound = findings_of(environ)["secret keys"]
        assert (sound.status, sound.found) == (
            Status.OK,
            "1 running process has the current SECRET_KEY",
        )
        _announce_part(client, part._replace(key_check="00000"))
        found = findings_of(environ)["secret keys"]
        client.flushdb()
    assert found.status is Status.PROBLEM
    assert "web server, process 42 on forest-1" in found.found
    assert "Restart" in found.advice
