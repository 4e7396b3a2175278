"""``bin/canopy outbound``; what it does is tested in ``tests/outbound/test_switch.py``."""

from __future__ import annotations

from tests.cli.conftest import Run, runner
from tests.make import Client, second_app


def test_it_says_what_is_so_and_how_to_change_it(run: Run, client: Client) -> None:
    said = run("outbound")
    assert said.stdout.split()[:2] == ["outbound", "on"]
    assert said.stderr == ""
    with second_app(client.app, outbound="off") as off:
        said = runner(off)("outbound")
    assert "remove OUTBOUND=off from the settings" in said.stderr


def test_only_what_is_switched_on_can_be_discarded(run: Run) -> None:
    for words in (("off",), ()):
        refused = run("outbound", *words, "--discard")
        assert (refused.exit_code, "goes with on" in refused.stderr) == (2, True)
