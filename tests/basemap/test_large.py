"""A map of a whole country, and many readers at once; ``-s`` shows what was measured."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask import Flask
from pmtiles.reader import MmapSource, all_tiles

from app.basemap.own import FILE
from app.db.connections import close_all
from app.factory import create_app
from config import ROOT, Settings, load_settings
from tests.basemap.planet import make_planet
from tests.browser.conftest import running_instance
from tests.make import make_account
from tests.make.browser import signed_in_browser

pytestmark = pytest.mark.trial

say = sys.stdout.write
GHANA = (-3.26, 4.71, 1.2, 11.17)
READERS, PARTS = 100, 30


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A map with 80,000 tiles of 2 kB."""
    path = tmp_path_factory.mktemp("large") / "planet.pmtiles"
    return make_planet(path, GHANA, leaf_size=4096, padding=2000)


def test_the_memory_does_not_grow_with_the_area(sqlite: Flask, large: Path) -> None:
    settings: Settings = sqlite.config["SETTINGS"]
    environment = os.environ | {"INSTANCE_PATH": str(settings.instance_path)}

    def peak(*box: float) -> int:
        """The largest memory of the command, in megabytes."""
        sides = ",".join(map(str, box))
        words = ["basemap", "--source", str(large), "--box", sides, "--yes"]
        before = os.times().children_user
        with subprocess.Popen(
            [sys.executable, "-m", "app.cli", *words], cwd=ROOT, env=environment
        ) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        seconds = os.times().children_user - before
        size = (settings.instance_path / FILE).stat().st_size / 1e6
        say(f"\n{size:.1f} MB: {usage.ru_maxrss / 1024:.0f} MB of memory, {seconds:.1f} s")
        return usage.ru_maxrss // 1024

    small = peak(0, 6, 0.1, 6.1)
    whole = peak(*GHANA)
    with (settings.instance_path / FILE).open("rb") as file:
        number = sum(1 for _ in all_tiles(MmapSource(file)))
    say(f"{number:,} tiles")
    assert number > 80_000
    assert whole - small < 40


# Reads parts of a file, in as many threads as there are readers; prints the seconds of each.
READING = """
import http.client, json, sys, threading, time
host, path, cookies, size, readers, parts = json.loads(sys.argv[1])
times, statuses = [], set()
def read(number):
    connection = http.client.HTTPConnection(host, timeout=60)
    headers = {"Cookie": cookies, "X-Forwarded-For": f"14.0.0.{number}"}
    for part in range(parts):
        first = (number * parts + part) * 40_009 % (size - 40_000)
        began = time.monotonic()
        wanted = {"Range": f"bytes={first}-{first + 39_999}"}
        connection.request("GET", path, headers=headers | wanted)
        response = connection.getresponse()
        statuses.add((response.status, len(response.read())))
        times.append(time.monotonic() - began)
threads = [threading.Thread(target=read, args=(number,)) for number in range(readers)]
for each in threads: each.start()
for each in threads: each.join()
print(json.dumps({"times": times, "statuses": list(statuses)}))
"""


def test_a_hundred_read_at_once(scratch: Path, large: Path) -> None:
    with running_instance(scratch, RATE_LIMIT_DISABLED="true") as instance:
        (instance.folder / FILE).symlink_to(large)
        app = create_app(load_settings(instance.environment))
        client = make_account(app)
        browser = signed_in_browser(app, client.owner_id, client.account_id)
        kept = browser.client._cookies.values()  # type: ignore[union-attr]
        cookies = "; ".join(f"{each.key}={each.value}" for each in kept)
        with app.app_context():
            close_all()
        host, size = urlsplit(instance.url).netloc, large.stat().st_size
        words = json.dumps([host, f"/map/{FILE}", cookies, size, READERS, PARTS])
        began = time.monotonic()
        found = json.loads(subprocess.check_output([sys.executable, "-c", READING, words]))
        seconds = time.monotonic() - began
    times = found["times"]
    cuts = statistics.quantiles(times, n=20)
    say(
        f"\n{len(times):,} parts of 40 kB in {seconds:.1f} s: {len(times) / seconds:.0f} a second; "
        f"median {cuts[9] * 1000:.0f} ms, 95 % within {cuts[18] * 1000:.0f} ms"
    )
    assert found["statuses"] == [[206, 40_000]]
