"""Operations of GEOS in a process that is ended in time."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import shapely

from app.geometry import timed
from app.geometry.polygons import build_polygons
from app.geometry.timed import differences, intersection, is_valid, processor_seconds
from tests.geometry.expensive_shapes import zigzag
from tests.geometry.sizes import rings_of

SQUARE = shapely.box(0, 0, 2, 2)
BOW = shapely.from_wkt("POLYGON ((0 0, 1 1, 1 0, 0 1, 0 0))")


@pytest.fixture(scope="module")
def minutes() -> Any:
    """Polygons that take minutes to validate."""
    return build_polygons(rings_of(zigzag(90_000)))


_begun = list[float]()


def begin() -> None:
    began = time.process_time()
    while time.process_time() < began + 0.2 and not _begun:
        pass
    _begun.append(began)


def covers(polygon: Any, times: float) -> tuple[float, int, bool]:
    return float(shapely.area(polygon)) * times, os.getppid(), bool(_begun)


def nothing(_: Any) -> None:
    """Its answer differs from none at all."""


def is_valid_there(polygons: Any) -> bool:
    return bool(shapely.is_valid(polygons))


def running() -> int:
    """The id of the process."""
    assert timed._program._process is not None
    return timed._program._process.pid


def test_answers_are_those_of_geos() -> None:
    assert is_valid(SQUARE, 1)[0] is True
    assert is_valid(BOW, 1)[0] is False
    assert shapely.equals(intersection(SQUARE, shapely.box(1, 1, 3, 3), 1), shapely.box(1, 1, 2, 2))
    gained, lost = differences(SQUARE, shapely.box(1, 0, 3, 2), shapely.box(0, 0, 4, 1), 1) or ()
    assert shapely.equals(gained, shapely.box(2, 0, 3, 1))
    assert shapely.equals(lost, shapely.box(0, 0, 1, 1))


def test_what_takes_too_long_is_ended_and_counts(minutes: Any) -> None:
    assert is_valid(SQUARE, 1)[0] is True
    process, began = running(), processor_seconds()
    answer, seconds = is_valid(minutes, 0.1)
    assert answer is None
    assert 0.05 < seconds < 1
    assert processor_seconds() - began > 0.05
    assert is_valid(SQUARE, 1)[0] is True
    assert running() == process


def test_what_geos_cannot_do_has_no_answer() -> None:
    assert intersection(BOW, shapely.from_wkt("POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))"), 1) is None


def test_a_function_of_the_application_is_called_there() -> None:
    """Of one that is called before, the time does not count."""
    answer = timed.call_timed(covers, [SQUARE], 3.0, seconds=0.1, before=begin)
    assert answer == [(12.0, running(), True)]
    assert timed.call_timed(nothing, [SQUARE], seconds=1, before=begin) == [None]


def test_a_function_that_takes_too_long_is_ended(minutes: Any) -> None:
    assert timed.call_timed(is_valid_there, [minutes], seconds=0.1, before=begin) is None
    assert timed.call_timed(nothing, [SQUARE], seconds=0, before=begin) is None
    assert timed.call_timed(nothing, [SQUARE], seconds=-1, before=begin) is None


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_has_ended_is_started_again(sent: signal.Signals) -> None:
    assert is_valid(SQUARE, 1)[0] is True
    former = running()
    os.kill(former, sent)
    assert is_valid(SQUARE, 1)[0] is True
    assert running() != former


def test_a_process_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_valid(SQUARE, 1)[0] is True
    os.kill(running(), signal.SIGSTOP)
    monkeypatch.setattr(timed, "START_SECONDS", 0.1)
    monkeypatch.setattr(timed, "PATIENCE", 0.0)
    monkeypatch.setattr(timed, "TRIES", 1)
    assert is_valid(SQUARE, 1)[0] is None
    monkeypatch.undo()
    assert is_valid(SQUARE, 1)[0] is True


def test_a_forked_process_has_its_own() -> None:
    assert is_valid(SQUARE, 1)[0] is True
    ours = running()
    child = os.fork()
    if not child:
        is_right = is_valid(SQUARE, 1)[0] is True and running() != ours
        os._exit(0 if is_right else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert is_valid(SQUARE, 1)[0] is True
    assert running() == ours


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows it")
def test_it_knows_nothing_of_the_application(monkeypatch: pytest.MonkeyPatch) -> None:
    timed._program.end()
    monkeypatch.setenv("SECRET_KEY", "a secret")
    assert is_valid(SQUARE, 1)[0] is True
    assert b"SECRET" not in Path(f"/proc/{running()}/environ").read_bytes()
    opened = [os.readlink(each) for each in Path(f"/proc/{running()}/fd").iterdir()]
    assert not [name for name in opened if name.startswith("socket:")]
