"""``bin/canopy import``: where features come from, and which of their properties are kept."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.features import features_file, imported, projects
from tests.make import Client, square


def test_a_description_and_chosen_attributes(run: Run, client: Client, tmp_path: Path) -> None:
    path = features_file(
        tmp_path, ({"name": "Alpine", "Description": "Steep.", "age": 3, "soil": "loam"}, square())
    )
    imported(run, client, path, "--attribute", "soil")
    project = projects(client)["Alpine"]
    assert (project["description"], project["metadata"]) == ("Steep.", {"soil": "loam"})


def test_more_attributes_than_metadata_holds_are_left_out(
    run: Run, client: Client, tmp_path: Path
) -> None:
    many = {f"column_{number}": number for number in range(51)}
    path = features_file(tmp_path, ({"name": "Alpine", **many}, square()))
    document = imported(run, client, path)
    assert document["warnings"] == [
        "Only 50 columns can become metadata. Left out: column_50. You can choose others."
    ]
    del many["column_50"]
    assert projects(client)["Alpine"]["metadata"] == many
    imported(run, client, path, "--attribute", "column_50", "--update", "--match", "name")
    assert projects(client)["Alpine"]["metadata"] | {"column_50": 50} == many | {"column_50": 50}


def test_the_file_can_be_a_pipe(run: Run, client: Client, tmp_path: Path) -> None:
    source = features_file(tmp_path, ({"name": "Alpine"}, square())).read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(source,))
    writer.start()
    document = imported(run, client, pipe)
    writer.join()
    assert document["summary"]["new"] == 1
