"""Processes that the tests start, watch and find again."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from pathlib import Path
from urllib.request import Request, urlopen

from tests.captured import piped
from tests.waiting import PATIENCE, wait_for


class Marked:
    """Processes that can be found again, whoever became their parent: by a variable that they
    inherit from the one that was started here, or by a place in their command line, as Valkey
    writes its own over its environment."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.mark = f"RUNNING_TEST={uuid.uuid4().hex}"

    @property
    def environment(self) -> dict[str, str]:
        name, value = self.mark.split("=")
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        return {**kept, name: value}

    def pids(self, *words: str) -> list[int]:
        """The living ones whose command line has all the words, the oldest first."""
        return [pid for pid, line in self.commands().items() if all(word in line for word in words)]

    def named(self, name: str) -> list[int]:
        """The living ones that have given themselves this name, the oldest first."""
        found = []
        for pid in self.pids():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text().strip() == name:
                    found.append(pid)
        return found

    def commands(self) -> dict[int, str]:
        """Command lines by id, the oldest process first: ids begin again after the highest one."""
        found, started = {}, {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                inherited = (folder / "environ").read_bytes().split(b"\0")
                if self.mark.encode() in inherited or str(self.place) in line:
                    stat = (folder / "stat").read_text().rpartition(")")[2].split()
                    started[int(folder.name)] = int(stat[19])  # see proc_pid_stat(5)
                    found[int(folder.name)] = line
        return {pid: found[pid] for pid in sorted(found, key=started.__getitem__)}

    def kill_all(self) -> None:
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def fetch(port: int, path: str, data: bytes | None = None) -> str:
    with urlopen(Request(f"http://127.0.0.1:{port}{path}", data), timeout=PATIENCE) as answer:
        return answer.read().decode()


def _take_hangups() -> None:
    """Also where the tests run under nohup, which lets what it starts ignore SIGHUP."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Instance:
    """One ``bin/serve`` without its set-up."""

    def __init__(self, tree: Path, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.port = int(environment["PORT"])
        self.began = time.monotonic()
        self.process = piped(
            [sys.executable, "-m", "app.serve"],
            cwd=tree,
            env=dict(environment),
            preexec_fn=_take_hangups,
        )

    def get(self, path: str, data: bytes | None = None) -> str:
        return fetch(self.port, path, data)

    def wait_until_ready(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("Canopy runs at"), self.end()
        return line.strip()

    def send(self, number: int) -> None:
        self.began = time.monotonic()
        self.process.send_signal(number)

    def close(self) -> None:
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process.wait()

    def end(self) -> tuple[int, str]:
        """Exit code and the last line of stderr."""
        _, errors = self.process.communicate(timeout=PATIENCE)
        self.took = time.monotonic() - self.began
        return self.process.returncode, (errors.strip().splitlines() or [""])[-1]


def ask_slowly(instance: Instance, pool: Executor, seconds: int) -> Future[str]:
    """A request that takes so long, and has begun."""
    answer = pool.submit(instance.get, f"/slow/{seconds}")
    wait_for((instance.folder / "slow.started").exists)
    return answer


def start_job(instance: Instance, seconds: int) -> int:
    """The number of the process that runs it."""
    instance.get(f"/jobs/{seconds}", data=b"")
    started = instance.folder / "job.started"
    return int(wait_for(lambda: started.exists() and started.read_text()))


def responds(instance: Instance) -> bool:
    with contextlib.suppress(OSError):
        return instance.get("/healthz") == "ok"
    return False


def starts_a_job(instance: Instance) -> bool:
    """Whether a job that is put on the queue now begins soon."""
    with contextlib.suppress(OSError):
        instance.get("/jobs/0", data=b"")
        time.sleep(0.5)
    return (instance.folder / "job.started").exists()
