"""``bin/canopy undo-import``: what an import created or changed is as it was before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import undoing
from app.db.transactions import transaction
from app.imports.leases import LeasedImport, lease_import, lock_leased
from tests.cli.conftest import Run
from tests.cli.features import features_file, imported, projects
from tests.make import Client, make_project, square
from tests.make.features import DISTRICTS


def test_an_import_is_undone(run: Run, client: Client) -> None:
    make_project(client, name="Mine")
    before = projects(client)
    import_id = imported(run, client, DISTRICTS)["import_id"]
    assert len(projects(client)) == 5
    result = run("undo-import", import_id, "--account", client.account_id)
    assert result.exit_code == 0, result.stderr
    assert "4 features undone, 0 kept." in result.stdout
    assert projects(client) == before


@pytest.mark.slow
def test_what_was_changed_since_is_kept_and_listed(
    run: Run, client: Client, tmp_path: Path
) -> None:
    path = features_file(tmp_path, ({"name": "Oak"}, square(1, 1)), ({"name": "Yew"}, square(2, 2)))
    import_id = imported(run, client, path)["import_id"]
    oak = projects(client)["Oak"]
    client.put(f"/v1/projects/{oak['id']}", json={"description": "Seen"})
    result = run("undo-import", import_id, "--account", client.account_id, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["import_id"], found["undone"]) == (import_id, 1)
    (kept,) = found["kept"]
    assert (kept["name"], kept["id"]) == ("Oak", oak["id"])
    assert "changed" in kept["reason"]
    assert list(projects(client)) == ["Oak"]


def test_people_get_a_table_of_what_is_kept(
    run: Run, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undoing, "KEPT_SHOWN", 1)
    path = features_file(tmp_path, ({"name": "Oak"}, square(1, 1)), ({"name": "Yew"}, square(2, 2)))
    import_id = imported(run, client, path)["import_id"]
    for each in projects(client).values():
        client.put(f"/v1/projects/{each['id']}", json={"description": "Seen"})
    shown = run("undo-import", import_id, "--account", client.account_id).stdout
    assert f"      1  Oak   {projects(client)['Oak']['id']}" in shown
    assert "… and 1 more; --json lists all." in shown
    assert "0 features undone, 2 kept." in shown


def test_the_command_that_the_import_prints(run: Run, client: Client, tmp_path: Path) -> None:
    path = features_file(tmp_path, ({"name": "Oak"}, square(1, 1)))
    shown = run("import", str(path), "--account", client.account_id).stdout
    (line,) = [line for line in shown.splitlines() if line.startswith("To undo this")]
    words = line.split("bin/canopy ")[1].split()
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert "1 feature undone, 0 kept." in result.stdout
    assert projects(client) == {}


def test_an_interrupted_undoing_goes_on_with_the_same_command(
    run: Run, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = features_file(tmp_path, ({"name": "Oak"}, square(1, 1)))
    import_id = imported(run, client, path)["import_id"]

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(undoing, "undo_features", interrupted)
        result = run("undo-import", import_id, "--account", client.account_id)
    assert result.exit_code == 1
    assert "Run the command again" in result.stderr
    assert list(projects(client)) == ["Oak"]
    assert run("undo-import", import_id, "--account", client.account_id).exit_code == 0
    assert projects(client) == {}


@pytest.mark.slow
def test_a_worker_that_took_the_import_over_goes_on(
    run: Run, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one does when the command stood still for longer than its lease."""
    path = features_file(tmp_path, ({"name": "Oak"}, square(1, 1)))
    import_id = imported(run, client, path)["import_id"]
    undo_features = undoing.undo_features

    def taken_over(leased: LeasedImport, *others: Any) -> None:
        with transaction():
            taken = lease_import(lock_leased(leased))
        undo_features(leased, *others)
        raise AssertionError(taken)

    monkeypatch.setattr(undoing, "undo_features", taken_over)
    result = run("undo-import", import_id, "--account", client.account_id)
    assert result.exit_code == 1
    assert f"A worker goes on with this import: GET /v1/imports/{import_id}" in result.stderr
    record = client.get(f"/v1/imports/{import_id}").json["data"]
    assert record["status"] == "undoing"


def test_an_import_is_undone_once(run: Run, client: Client, tmp_path: Path) -> None:
    path = features_file(tmp_path, ({"name": "Oak"}, square(1, 1)))
    import_id = imported(run, client, path)["import_id"]
    words = ("undo-import", import_id, "--account", client.account_id)
    assert run(*words).exit_code == 0
    result = run(*words)
    assert result.exit_code == 1
    assert "This one is undone." in result.stderr


def test_another_account_has_no_such_import(
    run: Run, client: Client, stranger: Client, tmp_path: Path
) -> None:
    path = features_file(tmp_path, ({"name": "Oak"}, square(1, 1)))
    import_id = imported(run, client, path)["import_id"]
    for account, wanted in ((stranger.account_id, import_id), (client.account_id, "imp_1")):
        result = run("undo-import", wanted, "--account", account)
        assert result.exit_code == 1
        assert "This import does not exist." in result.stderr
    assert list(projects(client)) == ["Oak"]
