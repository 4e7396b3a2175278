"""Ports that tests give to servers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.ports import free_port

MANY = "from tests.ports import free_port; print(*(free_port() for _ in range(200))); input()"


def test_a_port_is_given_to_one_process_alone() -> None:
    command = [sys.executable, "-c", MANY]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    others = [subprocess.Popen(command, text=True, **pipes) for _ in range(2)]  # type: ignore[call-overload]
    given = [free_port() for _ in range(200)]
    for other in others:
        given += map(int, other.stdout.readline().split())
    for other in others:
        other.communicate("\n")
    assert len(set(given)) == 600
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert max(given) < first, "the kernel gives these to connections"
