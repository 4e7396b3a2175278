"""What keeps an instance from starting is told in one sentence, with exit code 2 for a setting."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator

import pytest

from tests.processes.instances import Instance, Marked
from tests.waiting import PATIENCE

pytestmark = pytest.mark.slow

Serve = Callable[..., Instance]


@pytest.fixture(autouse=True)
def _nothing_is_left(marked: Marked) -> Iterator[None]:
    yield
    assert marked.pids() == []


def refusal(instance: Instance, code: int = 1) -> str:
    output, errors = instance.process.communicate(timeout=PATIENCE)
    assert instance.process.returncode == code, errors
    assert output == ""
    assert errors.count("\n") == 1, errors
    return errors.rstrip()


def test_a_setting(serve: Serve) -> None:
    said = refusal(serve(LOG_LEVEL="loud"), code=2)
    assert said.startswith("LOG_LEVEL must be one of ")


def test_a_second_one_on_the_same_folder(serve: Serve, instance: Instance) -> None:
    said = refusal(serve(PORT="1"))
    assert (
        said == f"The service already runs on {instance.folder} (process {instance.process.pid})."
    )
    instance.send(signal.SIGTERM)
    assert instance.end() == (0, "")


def test_a_port_in_use(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = refusal(serve(PORT=str(port)))
    assert said == f"Port {port} of 127.0.0.1 is in use by another program; set PORT to a free one."


@pytest.mark.trial
@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.name.invalid"])
def test_an_address_that_is_not_ours(serve: Serve, host: str) -> None:
    said = refusal(serve(HOST=host))
    assert said.startswith(f"HOST {host} is not an address of this machine (")


@pytest.mark.trial
def test_a_database_that_is_out_of_reach(serve: Serve) -> None:
    said = refusal(serve(FAULT="database unreachable"))
    assert said == "The database sqlite:///stand-in cannot be used (connection refused)."


@pytest.mark.trial
def test_a_database_that_cannot_be_migrated(serve: Serve) -> None:
    said = refusal(serve(FAULT="database newer"))
    assert said == (
        "The database sqlite:///stand-in cannot be migrated. There is no such revision."
    )
