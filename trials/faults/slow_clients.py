"""Hundreds of clients that send a byte a second: what another client notices of them."""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

from app.db.connections import close_all
from app.factory import create_app
from config import ROOT, load_settings
from tests.api.server import gunicorn
from tests.deploy.files import text, tool
from tests.make import make_account
from tests.ports import free_port
from tests.waiting import wait_for
from trials.faults.trial_report import TrialReport
from trials.faults.valkey import valkey

NAME = "slow-clients"
CLIENTS, WORKERS, THREADS = 500, 2, 4
ROUNDS, SECONDS = 4, 22.0
BOUND = 2.0  # times the p99 of a client alone
TIMEOUT = 10  # seconds that the client waits
PAUSE = 0.005  # seconds between two requests of the client
PLANS = "[wide]\nrequests_per_minute = 1000000\n"
PROXIES = ("", "nginx", "caddy")


@dataclass
class Seen:
    """What a client that behaves saw."""

    millis: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def p99(self) -> float:
        return quantiles(self.millis, n=100)[98]

    def __str__(self) -> str:
        p50 = quantiles(self.millis, n=100)[49]
        return (
            f"p50 {p50:5.1f} ms, p99 {self.p99:5.1f} ms, longest {max(self.millis):5.1f} ms, "
            f"{len(self.millis):,} responses"
        )


def call(port: int, token: str, seconds: float, seen: Seen | None = None) -> None:
    """Ask for so long: every other request on a connection of its own, the others on one that is
    kept. What is not answered has the status 0."""
    seen = Seen() if seen is None else seen
    kept = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    over = time.monotonic() + seconds
    while time.monotonic() < over:
        own = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        for connection in (kept, own):
            began = time.perf_counter()
            seen.statuses[_ask(connection, token)] += 1
            seen.millis.append((time.perf_counter() - began) * 1000)
            time.sleep(PAUSE)
        own.close()
    kept.close()


def _ask(connection: http.client.HTTPConnection, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    try:
        connection.request("GET", "/v1/account", headers=headers)
        answer = connection.getresponse()
        is_account = "data" in json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError):
        connection.close()  # it opens again
        return 0
    return answer.status if is_account else 0


@contextlib.contextmanager
def dripping(port: int, token: str, outcomes: Counter[str]) -> Iterator[None]:
    """The slow clients, in a process of their own. What they saw is added to ``outcomes``."""
    command = [sys.executable, "-m", "trials.faults.dripping", str(port), str(CLIENTS), token]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield
    finally:
        output, _ = process.communicate("end\n", timeout=30)
        outcomes.update(json.loads(output))


def run(
    folder: Path, proxy: str = "", *, rounds: int = ROUNDS, seconds: float = SECONDS
) -> TrialReport:
    """Let a client ask alone, and then beside the slow ones, in turns, as the machine may have
    other work at times.

    Args:
        proxy: ``nginx`` or ``caddy``, which stands in front with the configuration that is shipped.
        seconds: for each turn; longer than a slow one is waited for, so that many are refused.
    """
    plans = folder / "plans.toml"
    plans.write_text(PLANS)
    report = TrialReport()
    with ExitStack() as stack:
        environ = {
            "REDIS_URL": stack.enter_context(valkey(folder)).url,
            "PLANS_FILE": str(plans),
            "LOG_LEVEL": "warning",
            "WEB_WORKERS": str(WORKERS),
            "WEB_THREADS": str(THREADS),
        }
        server = stack.enter_context(gunicorn(folder, **environ))
        port = stack.enter_context(_front(proxy, server.port, folder)) if proxy else server.port
        app = create_app(load_settings({"INSTANCE_PATH": str(folder)} | environ))
        token = make_account(app, plan="wide").token or ""
        with app.app_context():
            close_all()
        call(port, token, min(seconds, 3))
        alone, beside, outcomes = Seen(), Seen(), Counter[str]()
        for _ in range(rounds):
            call(port, token, seconds, alone)
            with dripping(port, token, outcomes):
                time.sleep(2)  # until all are connected
                call(port, token, seconds, beside)
    _judge(report, alone, beside, outcomes, rounds)
    return report


def _judge(
    report: TrialReport, alone: Seen, beside: Seen, outcomes: Counter[str], rounds: int
) -> None:
    ratio = beside.p99 / alone.p99
    shown = ", ".join(
        f"{number:,} with {name}" if name.isdigit() else f"{number:,} {name}"
        for name, number in sorted(outcomes.items())
    )
    report.lines += [
        f"  a client alone  {alone}",
        f"  beside them     {beside}: p99 {ratio:.2f} times as long ({BOUND:g} allowed)",
        f"  the slow ones   {shown}",
    ]
    statuses = alone.statuses + beside.statuses
    report.check(set(statuses) == {200}, f"statuses {dict(statuses)}")
    connected = outcomes["open at the end"] / rounds
    report.check(connected > 0.9 * CLIENTS, f"only {connected:.0f} were slow")
    report.check_time("p99 beside them", beside.p99 / 1000, BOUND * alone.p99 / 1000)


def report(names: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Without a proxy and behind each that is installed: whether all was right, and figures."""
    for proxy in PROXIES if NAME in names else ():
        title = f"{NAME}: {CLIENTS} clients that send a byte a second; sqlite, "
        title += f"behind {proxy}" if proxy else "no proxy"
        if proxy and tool(proxy) is None:
            yield True, f"{title}: not installed"
            continue
        with tempfile.TemporaryDirectory(prefix="canopy-") as folder:
            Path(folder).chmod(0o755)
            found = run(Path(folder), proxy)
        wrong = found.wrong + found.late
        yield not wrong, "\n".join([title, *found.lines, *(f"  WRONG: {line}" for line in wrong)])


@contextlib.contextmanager
def _front(proxy: str, upstream: int, folder: Path) -> Iterator[int]:
    """A proxy in front of the service, without TLS. Its port."""
    port, program = free_port(), tool(proxy)
    assert program is not None
    environ = {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    if proxy == "nginx":
        (folder / "nginx.conf").write_text(_plain_nginx(port, upstream, folder))
        command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]
    else:
        own = (ROOT / "deploy/Caddyfile").read_text()
        (folder / "Caddyfile").write_text(own.replace("{", "{\n\tdefault_bind 127.0.0.1", 1))
        command = [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
        environ |= {"SITE": f"http://:{port}", "UPSTREAM": f"127.0.0.1:{upstream}"}
    with (folder / f"{proxy}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
    try:
        wait_for(lambda: _answers(port))
        yield port
    finally:
        process.terminate()
        process.wait(20)


def _plain_nginx(port: int, upstream: int, folder: Path) -> str:
    """The shipped configuration with these ports, without TLS and its own limit of requests: all
    clients here have one address."""
    site = text("deploy/nginx.conf").replace("127.0.0.1:8000", f"127.0.0.1:{upstream}")
    lines = [
        line.replace("listen 443 ssl http2;", f"listen 127.0.0.1:{port};")
        for line in site.splitlines()
        if not line.strip().startswith(("ssl_", "listen [::]", "listen 80;", "limit_req"))
    ]
    first, _, second = "\n".join(lines).partition("server {")
    site = first + "server {" + second.partition("server {")[2]
    paths = "".join(
        f"{name}_temp_path {folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.error;"
        f"events {{ worker_connections 4096; }} http {{ access_log off; {paths} {site} }}"
    )


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        with contextlib.closing(connection):
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
    return False
