"""What ``bin/serve`` takes: memory, processor time, and time to start.

.venv/bin/python -m bench.weight                           where nobody uses it
.venv/bin/python -m bench.weight --traffic 60              during an hour of mixed traffic
.venv/bin/python -m bench.weight --traffic 10 --memory 512 --small     with so many MB, as root

Memory that processes share is counted once. What they share with processes of others, such as the
code of libraries in one ``.venv``, is counted in part: measure in a clone with one of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from bench.mixed import Account, Traffic, make_webhook
from bench.report import machine
from config import ROOT
from tests.outbound.authority import make_authority
from tests.outbound.receivers import Receiver
from tests.ports import free_port
from tests.postgres import PostgresServer
from tests.processes.instances import Marked
from tests.waiting import wait_for

_TICKS: Final = os.sysconf("SC_CLK_TCK")  # of processor time a second
_ENDED_WITHIN: Final = 15.0
_HEAD: Final = "| | Processes | Memory | Of a core | Start |\n|---|---|---|---|---|"
_DATABASES: Final = ("sqlite", "postgresql")
_OUTSIDE: Final = "127.0.0.2"  # where webhooks have their receiver
_SHOWN: Final = 400  # characters of a line of a log
_ROWS_EVERY: Final = 5 * 60.0  # seconds
_CGROUPS: Final = Path("/sys/fs/cgroup/memory")  # of version 1
_TRAFFIC_HEAD: Final = "| | Processes | Memory | Highest | By process |\n|---|---:|---:|---:|---|"


def main() -> None:
    first, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        "python -m bench.weight",
        description=first,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--settle",
        type=float,
        default=20.0,
        help="seconds after the start, before the first figure",
    )
    parser.add_argument(
        "--idle", type=float, default=120.0, help="seconds without requests, before the last one"
    )
    mixed = parser.add_argument_group("under traffic")
    mixed.add_argument(
        "--traffic", type=float, metavar="MINUTES", help="send mixed traffic for so long"
    )
    mixed.add_argument("--accounts", type=int, default=2, help="each with 5 requests a second")
    mixed.add_argument("--file", type=float, default=6, help="MB of each file that is imported")
    mixed.add_argument("--large", action="store_true", help="also bodies of 16 MB, four a minute")
    mixed.add_argument("--memory", type=int, metavar="MB", help="memory of all its processes")
    mixed.add_argument("--database", choices=_DATABASES, default="sqlite")
    mixed.add_argument("--small", action="store_true", help="as bin/serve --small")
    mixed.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of it"
    )
    chosen = parser.parse_args()
    print(f"On {machine()}\n", flush=True)
    if chosen.traffic:
        _measure_traffic(chosen)
        return
    print(_HEAD)
    for database in _DATABASES:
        for options in ((), ("--small",)):
            print(_measure(database, options, chosen.settle, chosen.idle), flush=True)


def _measure(database: str, options: tuple[str, ...], settle: float, idle: float) -> str:
    """Start an instance twice, as the first start makes the database, and measure the second."""
    with ExitStack() as stack:
        folder, environ = stack.enter_context(_place(database))
        _Instance(folder, environ, options).end()
        began = time.monotonic()
        instance = _Instance(folder, environ, options)
        try:
            started = time.monotonic() - began
            time.sleep(settle)
            before = instance.processor_seconds()
            time.sleep(idle)
            share = (instance.processor_seconds() - before) / idle
            number, memory = instance.memory()
        finally:
            instance.end()
    name = " ".join((database, *options))
    return f"| {name} | {number} | {memory / 2**20:.0f} MB | {share:.2%} | {started:.1f} s |"


@contextmanager
def _place(database: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder for an instance, and the settings that it needs."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="canopy-weight-")))
        environ = {"INSTANCE_PATH": str(folder / "instance"), "PORT": str(free_port())}
        if database == "postgresql":
            os.chmod(folder, 0o755)
            server = stack.enter_context(PostgresServer(folder / "pg"))
            environ["DATABASE_URL"] = server.create_database(has_tables=True)
        yield folder / "instance", environ


def _measure_traffic(chosen: argparse.Namespace) -> None:
    options = ("--small",) if chosen.small else ()
    with ExitStack() as stack:
        folder, environ = stack.enter_context(_place(chosen.database))
        authority = make_authority(folder.parent)
        certificate = authority.certificate_for([_OUTSIDE])
        receiver = stack.enter_context(Receiver(certificate, address=_OUTSIDE))
        environ |= {
            "WEBHOOK_ALLOWED_NETWORKS": f"{_OUTSIDE}/32",
            "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
            **dict(each.split("=", 1) for each in chosen.set),
        }
        group = stack.enter_context(_Group(chosen.memory)) if chosen.memory else None
        _Instance(folder, environ, options).end()
        instance = _Instance(folder, environ, options, group)
        stack.callback(instance.end)
        port = int(environ["PORT"])
        accounts = [_make_account(environ, number) for number in range(chosen.accounts)]
        url = receiver.url(host=_OUTSIDE)
        for account in accounts:
            make_webhook(port, account, url)
        watch = stack.enter_context(_Watch(instance, group))
        time.sleep(chosen.settle)
        print(_TRAFFIC_HEAD)
        watch.print_row("before")
        began = time.monotonic()
        size = int(chosen.file * 1e6)
        traffic = Traffic(port, accounts, file_bytes=size, is_large=chosen.large)
        stack.callback(traffic.end)
        seconds = chosen.traffic * 60
        while (passed := time.monotonic() - began) < seconds:
            time.sleep(min(_ROWS_EVERY, seconds - passed))
            watch.print_row(f"{(time.monotonic() - began) / 60:.1f} min")
        traffic.end()
        rate = sum(traffic.statuses.values()) / (time.monotonic() - began)
        time.sleep(chosen.idle)
        watch.print_row(f"{chosen.idle:.0f} s later")
        statuses = dict(sorted(traffic.statuses.items()))
        print(f"\n{rate:.1f} requests a second: {statuses}")
        print(f"{len(receiver.requests):,} deliveries, {len(instance.errors())} errors in the logs")
        if group:
            print(group.summary())
        for what, times in traffic.failures.most_common():
            print(f"{times} times {what}")
        for line in instance.errors():
            print(line[:_SHOWN])


class _Instance:
    """A ``bin/serve`` that responds."""

    def __init__(
        self,
        folder: Path,
        environ: dict[str, str],
        options: tuple[str, ...],
        group: _Group | None = None,
    ) -> None:
        self._folder = folder
        self._marked = Marked(folder)  # and not the database server
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app.serve", "--empty", *options],
            cwd=ROOT,
            env=self._marked.environment | environ,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=group.join if group else None,
        )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise SystemExit(f"bin/serve ended with exit code {self._process.wait()}.")

    def processor_seconds(self) -> float:
        """The processor time of its processes, and of those that these have waited for."""
        return sum(map(_processor_seconds, self._pids()))

    def memory(self) -> tuple[int, int]:
        """The number of its processes, and the bytes that they have, those shared counted once."""
        pids = self._pids()
        return len(pids), sum(map(_proportional_bytes, pids))

    def by_process(self) -> list[tuple[str, int]]:
        """The name and the bytes of each of its processes now, also of those that soon end."""
        found = []
        for pid in sorted(self._marked.pids()):
            with suppress(OSError, ValueError):
                name = Path(f"/proc/{pid}/comm").read_text().strip()
                found.append((name, _proportional_bytes(pid)))
        return found

    def errors(self) -> list[str]:
        """The lines of its logs that say so."""
        logs = (self._folder / "logs").glob("*.log*")
        lines = (line for path in logs for line in path.read_text(errors="replace").splitlines())
        return [line for line in lines if '"level":"ERROR"' in line]

    def _pids(self) -> list[int]:
        """Those that last: a job has a process for a moment only, and its parent adds its time."""
        first = self._marked.pids()
        time.sleep(1)
        return [pid for pid in self._marked.pids() if pid in first]

    def end(self) -> None:
        self._process.terminate()
        self._process.wait(_ENDED_WITHIN)
        assert self._process.stdout is not None
        self._process.stdout.close()
        wait_for(lambda: not self._marked.pids())


class _Watch:
    """Looks at the memory of an instance every second, to know the highest."""

    def __init__(self, instance: _Instance, group: _Group | None) -> None:
        self._instance, self._group = instance, group
        self._highest: list[tuple[str, int]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def print_row(self, name: str) -> None:
        """What there is now, and the highest since the last row."""
        now, highest = self._instance.by_process(), self._highest
        self._highest = []
        print(
            f"| {name} | {len(now)} | {_megabytes(now)} | {_megabytes(highest)} | "
            f"{_listed(now)}; highest: {_listed(highest)} |",
            flush=True,
        )

    def _run(self) -> None:
        while not self._over.wait(1):
            now = self._instance.by_process()
            if _total(now) > _total(self._highest):
                self._highest = now
            if self._group:
                self._group.look()


def _total(processes: list[tuple[str, int]]) -> int:
    return sum(size for _, size in processes)


def _megabytes(processes: list[tuple[str, int]]) -> str:
    return f"{_total(processes) / 2**20:.0f} MB"


def _listed(processes: list[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {size / 2**20:.0f}" for name, size in processes)


class _Group:
    """A cgroup whose processes have so much memory together, and no swap. The kernel kills one of
    them when more is needed."""

    def __init__(self, megabytes: int) -> None:
        self._folder = _CGROUPS / f"canopy-weight-{os.getpid()}"
        self._highest = 0
        try:
            self._folder.mkdir()
            for name in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):
                if (self._folder / name).exists():  # the second counts swap, if the kernel can
                    (self._folder / name).write_text(str(megabytes << 20))
        except OSError as error:
            raise SystemExit(f"--memory needs root, and {_CGROUPS} (cgroup v1): {error}") from None

    def __enter__(self) -> _Group:
        return self

    def __exit__(self, *_: object) -> None:
        wait_for(lambda: not (self._folder / "cgroup.procs").read_text())
        self._folder.rmdir()

    def join(self) -> None:
        """Put this process into it, and all that it starts."""
        (self._folder / "cgroup.procs").write_text("0")

    def look(self) -> None:
        stat = self._numbers("memory.stat")
        self._highest = max(self._highest, stat["total_rss"] + stat["total_shmem"])

    def summary(self) -> str:
        killed = self._numbers("memory.oom_control")["oom_kill"]
        return f"{killed} killed; at most {self._highest / 2**20:.0f} MB, without cached files"

    def _numbers(self, name: str) -> Counter[str]:
        lines = (self._folder / name).read_text().splitlines()
        return Counter({key: int(value) for key, value in map(str.split, lines)})


def _make_account(environ: dict[str, str], number: int) -> Account:
    email = f"owner-{number}@example.org"
    command = [sys.executable, "-m", "app.cli", "account", "create", "--name", f"Load {number}"]
    command += ["--owner-email", email, "--plan", "enterprise", "--json"]
    full = {"PATH": os.environ["PATH"], **environ}
    made = subprocess.run(command, cwd=ROOT, env=full, check=True, stdout=subprocess.PIPE)
    found = json.loads(made.stdout)
    return Account(found["api_key"], email, found["owner_password"])


def _processor_seconds(pid: int) -> float:
    """Source: proc(5), fields 14 to 17 of ``stat``."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def _proportional_bytes(pid: int) -> int:
    """Its proportional set size. Source: proc(5), ``smaps_rollup``."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    (size,) = (line.split()[1] for line in lines if line.startswith("Pss:"))
    return int(size) * 1024


if __name__ == "__main__":
    main()
