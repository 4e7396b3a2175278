"""Walk through docs/install.md, docs/run.md and docs/repair.md from nothing, by their commands.

Release 1.0 is cloned and served as an operator would, filled, upgraded to the commit that is
checked out here, and meets wrong settings, a mail server, a proxy, PostgreSQL, a full disk and a
move to a new machine. Each command stands in a guide, from which it is read, and what it has to say
and its exit code are as written there. Only addresses and folders are others.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from config import ROOT, setting_docs
from tests.architecture.documents import documents
from tests.docs.pages import blocks
from tests.mail.servers import smtp_server
from tests.ports import free_port
from tests.postgres import PostgresServer
from tests.test_config import WRONG
from tests.waiting import wait_for
from trials.faults.disk_full import small_disk
from trials.report import CannotCause, say

FORMER: Final = "5fab7f15"  # the last commit of release 1.0
REVISION: Final = "0100"  # of its tables
_FORMER_BACKUP: Final = {"/backups/canopy.zip": "/backups/former.zip"}
TAGS: Final = {"former": "v1.0.0", "new": "v1.2.3"}
END_SECONDS: Final = 10
INSTALL, RUN, REPAIR = (f"docs/{name}.md" for name in ("install", "run", "repair"))


class Shown(NamedTuple):
    """A command in a guide: its page, the heading above it, and the words that it begins with."""

    page: str
    heading: str
    words: str

    def line(self) -> str:
        """The whole command. Raises LookupError if the guide does not show it there."""
        page = documents()[self.page]
        level, _, after = page.partition(f" {self.heading}\n")
        marks = level.rpartition("\n")[2]
        section = re.split(rf"^#{{1,{len(marks)}}} ", after, maxsplit=1, flags=re.MULTILINE)[0]
        for block in blocks(section):
            for line in block.text.splitlines():
                if block.language == "sh" and line.startswith(self.words):
                    return line
        raise LookupError(f"{self.page} shows no {self.words!r} below {self.heading!r}")


COMMANDS: Final = {
    "clone": Shown(INSTALL, "With systemd", "git clone"),
    "serve": Shown(INSTALL, "On one machine, with bin/serve", "bin/serve"),
    "create": Shown(INSTALL, "On one machine, with bin/serve", "bin/canopy account create"),
    "doctor": Shown(REPAIR, "What to do first", "bin/canopy doctor"),
    "health": Shown(RUN, "Health", "curl http://127.0.0.1:8000/api/health"),
    "ready": Shown(RUN, "Health", "curl http://127.0.0.1:8000/readyz"),
    "invite": Shown(RUN, "Accounts and people", "bin/canopy member add"),
    "import": Shown(RUN, "Files in and out", "bin/canopy import"),
    "test mail": Shown(RUN, "Mail", "bin/canopy mail test"),
    "folder": Shown(RUN, "Backup", "install --directory --mode"),
    "backup": Shown(RUN, "Backup", "bin/canopy backup"),
    "fetch": Shown(RUN, "Upgrade", "git fetch"),
    "check out": Shown(RUN, "Upgrade", "git checkout"),
    "restore": Shown(REPAIR, "Restore", "bin/canopy restore"),
    "test copy": Shown(RUN, "Test copies", "bin/canopy restore"),
    "outbound": Shown(RUN, "Test copies", "bin/canopy outbound"),
    "send": Shown(RUN, "Test copies", "bin/canopy outbound on --discard"),
    "migrate": Shown(REPAIR, "Restore", "bin/canopy migrate"),
    "set aside": Shown(REPAIR, "The way back after an upgrade", "mkdir aside"),
    "move away": Shown(REPAIR, "The way back after an upgrade", "mv canopy.sqlite3 "),
    "move back": Shown(REPAIR, "The way back after an upgrade", "mv canopy.sqlite3.revision"),
    "copy database": Shown(REPAIR, "Moving to another database", "bin/canopy copy-database"),
}
# What the guides say that the walk finds to be so.
PROMISES: Final = (
    (INSTALL, "Ctrl-C or SIGTERM stops it within 10 seconds"),
    (INSTALL, "The last line of\nthe second is `Problems: none.`"),
    (INSTALL, "A wrong setting stops a unit (exit code 2), and the journal names it"),
    (INSTALL, "and `PUBLIC_URL` with `https`. Responses then have `Strict-Transport-Security`"),
    (RUN, "**Without `MAIL_URL`**, each email is a file in the folder `mails` of the instance"),
    (RUN, "The second writes `canopy-TIME.zip` there while the service runs"),
    (RUN, "`bin/canopy doctor` says `schema … the newest`, and `Problems: none.`"),
    (RUN, "| `storage` | `failed` | a change cannot be stored: the [disk is full]"),
    (RUN, "| `ok`, or `degraded` without Valkey or a worker | 503 `unavailable`, also while"),
    (RUN, "SQLite file is first copied to `canopy.sqlite3.revision-NUMBER` beside it"),
    (RUN, "- no webhook and no email is sent, whatever `MAIL_URL` is"),
    (REPAIR, "ends with `Problems: none.` or exit\ncode 1"),
    (REPAIR, "Changes get 503, with a message that names the storage, until there is space"),
    (REPAIR, "`/api/health` is 503 meanwhile, `/readyz` 200 `degraded`"),
    (REPAIR, "asks (`--yes` answers), and replaces **everything** in one\ntransaction"),
    (REPAIR, "**A backup of an older version** is migrated when it is restored"),
    (REPAIR, "**A backup that cannot be verified** is refused"),
    (REPAIR, "ends with `All rows … are in the target.`"),
    (REPAIR, "check out the version that made the backup"),
)

_SOCKETS: Final = shutil.ignore_patterns("*.sock")  # cannot be copied


class Answer(NamedTuple):
    status: int
    body: Any
    headers: Mapping[str, str]


class Walk:
    """A machine with a clone, and an instance."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tree, self.backups = folder, folder / "canopy", folder / "backups"
        self.origin, self.instance, self.port = folder / "origin.git", folder / "data", free_port()
        self.settings: dict[str, str] = {}
        self.key = ""
        self._names = {
            "http://127.0.0.1:8000": f"http://127.0.0.1:{self.port}",
            "REPOSITORY": str(self.origin),
            "/opt/canopy": str(self.tree),
            "/backups": str(self.backups),
            "districts.geojson": "app/demo/districts.geojson",
        }

    def run(
        self, name: str, more: str = "", *, code: int | None = 0,
        names: Mapping[str, str] | None = None, cwd: Path | None = None, **settings: str,
    ) -> str:  # fmt: skip
        """What a command of a guide prints. Its exit code must be ``code``, if that is given.

        Args:
            more: options that the guide speaks of.
            names: what stands for other words here.
            settings: beside those of the walk.
        """
        line = COMMANDS[name].line()
        for word, own in (dict(names or {}) | self._names).items():
            line = line.replace(word, own)
        done = subprocess.run(
            ["bash", "-c", f"{line} {more}"],
            cwd=cwd or (self.tree if self.tree.exists() else self.folder),
            env=self.environ(**settings),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        said = done.stdout + done.stderr
        assert code in (None, done.returncode), (
            f"{line} {more}: exit code {done.returncode}\n{said}"
        )
        return said

    def environ(self, **settings: str) -> dict[str, str]:
        """The environment of commands: no settings but those of the walk."""
        known = {setting.name for setting in setting_docs()} | {"CI", "VIRTUAL_ENV"}
        own = {name: text for name, text in os.environ.items() if name not in known}
        place = {"INSTANCE_PATH": str(self.instance), "PORT": str(self.port)}
        return own | place | self.settings | settings

    @contextmanager
    def serving(self, *, ready: str = '"status":"ok"', **settings: str) -> Iterator[None]:
        """Serve until the end of the block, then stop by Ctrl-C.

        Args:
            ready: what /readyz says once everything runs.
        """
        log = self.folder / "serve.log"
        with log.open("w") as file:
            process = subprocess.Popen(
                COMMANDS["serve"].line().split(), cwd=self.tree, env=self.environ(**settings),
                stdout=file, stderr=file, start_new_session=True,
            )  # fmt: skip
        try:
            wait_for(
                lambda: process.poll() is not None or ready in self.text("/readyz"), seconds=300
            )
            assert process.poll() is None, log.read_text()
            yield
        finally:
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.wait(2 * END_SECONDS)
        assert process.returncode == 0, log.read_text()
        assert time.monotonic() - began < END_SECONDS

    def get(self, path: str, *, data: bytes | None = None, **headers: str) -> Answer:
        """A response, whatever its status; 0 without one."""
        own = {"Authorization": f"Bearer {self.key}"} if path.startswith("/v1") else {}
        own |= {"Content-Type": "application/json"} | headers
        request = Request(f"http://127.0.0.1:{self.port}{path}", data, own)
        try:
            with urlopen(request, timeout=30) as response:
                return Answer(response.status, json.load(response), dict(response.headers))
        except HTTPError as error:
            return Answer(error.code, json.load(error), dict(error.headers))
        except OSError:
            return Answer(0, {}, {})

    def text(self, path: str) -> str:
        return json.dumps(self.get(path).body, separators=(",", ":"))

    def projects(self) -> int:
        """The number of projects, with the key that was printed first."""
        total: int = self.get("/v1/projects").body["meta"]["total"]
        return total

    def check_doctor(self) -> str:
        said = self.run("doctor")
        assert said.splitlines()[-1].startswith("Problems: none."), said
        return said


def install(walk: Walk) -> None:
    """Clone a release, serve it, create an account, invite somebody, import a file."""
    subprocess.run(["git", "clone", "--quiet", "--bare", str(ROOT), str(walk.origin)], check=True)
    _tag(walk, "former", FORMER)
    walk.run("clone")
    walk.run("check out", names={TAGS["new"]: TAGS["former"]})
    with walk.serving():
        assert '"status":"ok"' in walk.run("ready")
        assert '"status":"ok"' in walk.run("health")
        said = walk.run("create")
        walk.key = re.findall(r"^api_key +(\S+)$", said, re.MULTILINE)[0]
        assert re.search(r"^slug +green-woods$", said, re.MULTILINE), said
        walk.check_doctor()
        walk.run("invite")
        wait_for(lambda: list((walk.instance / "mails").glob("*.eml")), seconds=30)
        walk.run("import", names={"--dry-run": ""})
        assert walk.projects() == 24
        walk.run("folder")
        walk.run("backup")
    (backup,) = _backups(walk)
    shutil.copy(backup, walk.backups / "former.zip")


def upgrade(walk: Walk) -> None:
    """Check out the new version, which migrates the tables, and those of a former backup."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    with walk.serving():
        _tag(walk, "new", commit)
        walk.run("fetch")
        walk.run("check out")
    for restore in (False, True):
        if restore:
            walk.run("restore", "--yes", names=_FORMER_BACKUP)
        with walk.serving():
            assert "the newest" in walk.check_doctor()
            assert walk.projects() == 24
            walk.run("backup", names={"--keep 14": "--keep 1"})
    assert (walk.instance / f"canopy.sqlite3.revision-{REVISION}").is_file()
    (backup,) = _backups(walk)
    shutil.copy(backup, walk.backups / "canopy.zip")


def wrong_settings(walk: Walk) -> None:
    """Each wrong setting is named by one line, with exit code 2, before anything is made."""
    folder = walk.folder / "never"
    for name, value in WRONG.items():
        place = {"INSTANCE_PATH": str(folder)} | {name: value}
        said = walk.run("serve", code=2, **place).splitlines()
        assert len(said) == 1, said
        assert name.partition("CLIENT_")[0] in said[0], (name, said)
        assert not folder.exists(), name


def mail(walk: Walk) -> None:
    """A mail server, and none where one is named."""
    with smtp_server() as (inbox, port):
        server = {"MAIL_URL": f"smtp://127.0.0.1:{port}?starttls=never"}
        with walk.serving(**server):
            walk.run("test mail", **server)
            (sent,) = (message["To"] for message in inbox.mails)
            assert sent == "you@example.org"
            assert "mail server" in walk.run("doctor", **server)
    said = walk.run("doctor", code=1, **server)
    assert re.search(r"^problem +mail server ", said, re.MULTILINE), said
    walk.run("test mail", code=1, **server)


def proxy(walk: Walk) -> None:
    """The client's address is the one that a trusted proxy names."""
    forwarded = {"X-Forwarded-For": "198.51.100.9, 203.0.113.7"}
    forwarded["X-Forwarded-Proto"] = "https, https"
    for number, address in (("0", "127.0.0.1"), ("1", "203.0.113.7"), ("2", "198.51.100.9")):
        url = {"PUBLIC_URL": "https://canopy.example.org", "TRUSTED_PROXIES": number}
        with walk.serving(**url):
            found = walk.get("/v1/exports/projects?status=draft", **forwarded)
            assert ("Strict-Transport-Security" in found.headers) == (number != "0")
            entries = walk.get("/v1/audit-log?action=project.exported&per_page=1").body["data"]
            assert entries[0]["via"]["ip"] == address, entries


def health(walk: Walk) -> None:
    """Without Valkey, without a database, and without tables."""
    nowhere = f"127.0.0.1:{free_port()}"
    with walk.serving(ready='"worker":"unknown"', REDIS_URL=f"redis://{nowhere}"):
        wait_for(lambda: walk.get("/api/health").body["status"] == "degraded")
        assert walk.get("/api/health").status == 200
        assert walk.projects() == 24


def postgresql(walk: Walk) -> None:
    """Move to PostgreSQL, which fails and comes back."""
    with PostgresServer(walk.folder / "pg") as server:
        url = server.create_database()
        shown = "postgresql://canopy:password@localhost/canopy"
        said = walk.run("copy database", names={shown: f"'{url}'"})
        assert re.search(r"^All rows .* are in the target\.", said, re.MULTILINE), said
        with walk.serving(DATABASE_URL=url):
            assert walk.projects() == 24
            server.kill()
            wait_for(lambda: walk.get("/readyz").status == 503)
            assert '"database":"unavailable"' in walk.text("/readyz")
            assert walk.get("/api/health").status == 503
            server.start()
            wait_for(lambda: walk.get("/readyz").body.get("status") == "ok", seconds=60)
            assert walk.projects() == 24


def new_machine(walk: Walk) -> None:
    """Restore a backup into an empty instance, with the key and without."""
    former, walk.instance = walk.instance, walk.folder / "elsewhere"
    walk.run("migrate")
    said = walk.run("restore", "--yes", code=1)
    assert "SECRET_KEY" in said, said
    shutil.copy(former / "secret_key", walk.instance / "secret_key")
    walk.run("restore", code=1)  # nobody answers
    walk.run("restore", "--yes")
    walk.check_doctor()
    with walk.serving():
        assert walk.projects() == 24
    walk.instance = former


def test_copy(walk: Walk) -> None:
    """A copy beside the service sends nothing until somebody says so."""
    former, walk.instance = walk.instance, walk.folder / "copy"
    walk.run("migrate")
    shutil.copy(former / "secret_key", walk.instance / "secret_key")
    walk.run("test copy", "--yes")
    with walk.serving():
        assert walk.projects() == 24
        assert re.search(r"^\w+ +outbound ", walk.run("doctor"), re.MULTILINE)
        walk.run("invite", names={"jo@example.org": "al@example.org"})
        assert " off" in walk.run("outbound")
        assert not (walk.instance / "mails").exists()
        walk.run("send")
        assert " off" not in walk.run("outbound")
    walk.instance = former


def full_disk(walk: Walk) -> None:
    """Changes get 503, and health says what is wrong, until there is room."""
    former, numbers = walk.instance, count()

    def create() -> Answer:
        project = {"name": f"Beech {next(numbers)}", "metadata": {"text": "x" * 10_000}}
        return walk.get("/v1/projects", data=json.dumps(project).encode())

    with small_disk(walk.folder / "disk") as disk:
        walk.instance, filler = disk / "data", disk / "filler"
        shutil.copytree(former, walk.instance, ignore=_SOCKETS)

        def is_refused() -> bool:
            with filler.open("ab", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(bytes(4096))
            answer = create()
            return answer.status == 503 and "storage" in json.dumps(answer.body)

        with walk.serving(RATE_LIMIT_DISABLED="true"):
            # SQLite begins its log anew when it is written back, which makes room for some changes.
            wait_for(lambda: is_refused() and walk.get("/api/health").status == 503)
            assert walk.get("/api/health").body["checks"]["storage"] == "failed"
            ready = walk.get("/readyz")
            assert (ready.status, ready.body["status"]) == (200, "degraded"), ready
            assert walk.get("/v1/projects").status == 200
            filler.unlink()
            wait_for(lambda: walk.get("/readyz").body["status"] == "ok", seconds=30)
            assert create().status == 201
    walk.instance = former


def way_back(walk: Walk) -> None:
    """The former version, with the backup that it made, and with the copy of the migration."""
    other = walk.folder / "second"
    shutil.copytree(walk.instance, other, ignore=_SOCKETS)
    walk.run("check out", names={TAGS["new"]: TAGS["former"]})
    walk.run("restore", "--yes", names=_FORMER_BACKUP)
    for instance in (walk.instance, other):
        if instance is other:
            walk.run("set aside", cwd=other)
            walk.run("move away", cwd=other, code=None)  # two of the files may not exist
            walk.run("move back", cwd=other, names={"NUMBER": REVISION})
        walk.instance = instance
        with walk.serving():
            walk.check_doctor()
            assert walk.projects() == 24


STEPS: Final[tuple[Callable[[Walk], None], ...]] = (
    install, upgrade, wrong_settings, mail, proxy, health, postgresql, new_machine, test_copy,
    full_disk, way_back,
)  # fmt: skip


def main() -> int:
    """Exit codes: 0 everything was as written, 1 something was not or could not be tried."""
    parser = argparse.ArgumentParser("bin/trials guides --", description=__doc__)
    parser.add_argument("--keep", metavar="FOLDER", help="new folder where all files and logs stay")
    options = parser.parse_args()
    say(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory(prefix="canopy-guides-") as made:
        walk, failed = Walk(Path(options.keep or made)), 0
        walk.folder.mkdir(exist_ok=True)
        walk.folder.chmod(0o755)
        for step in STEPS:
            began = time.monotonic()
            try:
                step(walk)
                said = "as written"
            except CannotCause as error:
                failed, said = failed + 1, f"skipped: {error}"
            say(f"{step.__name__.replace('_', ' '):15} {said}, {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


def _tag(walk: Walk, name: str, commit: str) -> None:
    tag = ["git", "tag", TAGS[name], commit]
    subprocess.run(tag, cwd=walk.origin, check=True)


def _backups(walk: Walk) -> list[Path]:
    return sorted(walk.backups.glob("canopy-*.zip"))


if __name__ == "__main__":
    sys.exit(main())
