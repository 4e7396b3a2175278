"""The worker and the commands behind a real pgbouncer, in session and in transaction mode."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from app.db.connections import close_all
from app.db.snapshots import exclusive_file
from app.factory import create_app
from config import ROOT, load_settings
from tests.captured import captured
from tests.db.postgresql.behind import TIMEOUT_MS, Behind
from tests.db.postgresql.pgbouncer import ROLE, pgbouncer
from tests.deploy.debian import Program
from tests.maintenance.contents import checksums, fill, url_of
from tests.make import make_account, make_project, make_webhook
from tests.outbound.receivers import Receiver, make_authority
from tests.postgres import PostgresServer
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.slow

PRIVATE = "127.0.0.0/8"


@pytest.mark.trial
def test_the_worker_delivers(behind: Behind, tmp_path: Path) -> None:
    authority = make_authority(tmp_path)
    receiver = Receiver(authority.certificate_for(["localhost", "127.0.0.1"]))
    environ = {
        "WEBHOOK_ALLOWED_NETWORKS": PRIVATE,
        "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
        "DATABASE_POOL_SIZE": "2",
    }
    behind.close()
    app = create_app(load_settings(behind.environ | environ))
    client = make_account(app)
    make_webhook(client, url=receiver.url(), events=["project.created"])
    bare = {"PATH": os.environ["PATH"]}
    with (tmp_path / "worker.log").open("wb") as log:
        worker = subprocess.Popen(
            [sys.executable, "worker.py"],
            cwd=ROOT,
            env=bare | behind.environ | environ,
            stdout=log,
            stderr=log,
        )
    try:
        for _ in range(20):
            make_project(client)
        wait_for(lambda: len(receiver.requests) == 20)
    finally:
        worker.terminate()
        worker.wait(PATIENCE)
        receiver.close()
        with app.app_context():
            close_all()
    lines = (tmp_path / "worker.log").read_text().splitlines()
    # A Valkey that got no turn for a quarter of a second is none of pgbouncer's faults.
    assert [line for line in lines if "ERROR" in line and "Valkey" not in line] == []


@pytest.mark.trial
def test_the_commands_work(behind: Behind, tmp_path: Path) -> None:
    account = fill(behind.app).account_id
    behind.close()
    before = checksums(behind.app)
    backup = str(tmp_path / "backup.zip")
    for words in (
        ("migrate",),
        ("backup", backup),
        ("restore", backup, "--yes"),
        ("account", "export", account, "--output", str(tmp_path / "account.json")),
        ("copy-database", "--to", f"sqlite:///{tmp_path}/copy.sqlite3"),
    ):
        done = behind.command(*words)
        assert done.returncode == 0, (words, done.stderr)
    after = checksums(behind.app)
    # Restoring and exporting are entered; the backup was before its own entry.
    assert after.pop("audit_entries")[0] == before.pop("audit_entries")[0] + 2
    assert after == before


@pytest.mark.trial
def test_a_copy_goes_through_it(
    behind: Behind, installed: Program, postgres: PostgresServer, scratch: Path
) -> None:
    behind.close()
    folder = Path(tempfile.mkdtemp(prefix="target-", dir=scratch))
    folder.chmod(0o755)
    with pgbouncer(installed, postgres, folder, behind.mode, 3) as target:
        done = behind.command("copy-database", "--to", target.url)
        assert done.returncode == 0, done.stderr
        copied = create_app(load_settings(behind.environ | {"DATABASE_URL": target.url}))
        assert checksums(copied) == checksums(behind.app)
        with copied.app_context():
            close_all()


@pytest.mark.trial
def test_the_doctor_says_what_the_role_lacks(behind: Behind) -> None:
    behind.close()
    before = _found(behind.command("doctor").stdout, "pool mode")
    if not behind.is_shared:
        assert before == ["ok", "no pgbouncer in transaction mode"]
        return
    assert before[0] == "warning"
    statements = re.findall(r"ALTER ROLE [^;]*;", behind.command("doctor").stdout)
    assert f"ALTER ROLE {ROLE} SET statement_timeout = '{TIMEOUT_MS}ms';" in statements
    assert f"ALTER ROLE {ROLE} SET jit = 'off';" in statements
    for statement in statements:
        behind.as_superuser(statement)
    try:
        assert _found(behind.command("doctor").stdout, "pool mode")[0] == "ok"
    finally:
        behind.as_superuser(f"ALTER ROLE {ROLE} RESET ALL")


def _found(output: str, name: str) -> list[str]:
    """The status that the doctor gives a check, and what it says."""
    (line,) = [line for line in output.splitlines() if line[9:].startswith(name)]
    return [line.split()[0], line[27:].strip()]


@pytest.mark.trial
def test_transaction_mode_that_was_not_set_is_refused(behind: Behind) -> None:
    """Each caller would get statements of others."""
    if not behind.is_shared:
        pytest.skip("nothing is wrong")
    behind.close()
    wrong = {"PGBOUNCER_POOL_MODE": "session"}
    migrate = behind.command("migrate", **wrong)
    assert migrate.returncode == 2
    assert migrate.stderr.startswith("PGBOUNCER_POOL_MODE must be transaction")
    worker = captured(
        [sys.executable, "worker.py"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]} | behind.environ | wrong,
        timeout=PATIENCE,
    )
    assert (worker.returncode, worker.stderr) == (2, migrate.stderr)
    assert _found(behind.command("doctor", **wrong).stdout, "pool mode")[0] == "problem"
    behind.as_superuser("SELECT 1")  # the doctor's settings stay on the connections


@pytest.mark.trial
def test_an_exclusive_user_keeps_out_others(behind: Behind) -> None:
    url = url_of(behind.app)
    with exclusive_file(url) as first:
        assert first is not None
        first.exec_driver_sql("SELECT 1")
        first.commit()
        with exclusive_file(url) as second:
            assert second is None
    with exclusive_file(url) as third:
        assert third is not None
