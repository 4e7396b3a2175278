"""Operations of GEOS with a limit of time. How long one takes depends on how edges lie, and cannot
be told in advance; once it has begun, nothing in this process can end it.

So they run in another process (``timed_program``), which starts when it is first needed, and ends
when it has been idle for a while. It has none of the application's memory, descriptors or
environment.
"""

from __future__ import annotations

import atexit
import marshal
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from time import thread_time
from typing import Any, Final, TypeAlias

import shapely

from app.geometry.timed_program import read_message, write_message
from app.values import processor_clock

# A context that is entered for expensive work, so that the caller can admit or refuse it.
Slot: TypeAlias = Callable[[], AbstractContextManager[None]]

_PROGRAM: Final = Path(__file__).with_name("timed_program.py")
_ENVIRONMENT: Final = {"OPENBLAS_NUM_THREADS": "1"}
START_SECONDS: Final = 10.0  # on a busy machine
PATIENCE: Final = 10.0  # seconds to wait for each second of processor time that a task may take
TRIES: Final = 2  # the program may just have ended, as it was idle


class _Program:
    """This process's other process. One thread uses it at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, task: bytes, seconds: float) -> tuple[Any, float]:
        """The answer to a task, or None without one, and the processor seconds that it took."""
        with self._lock:
            for _ in range(TRIES):
                process = self._running()
                with suppress(BrokenPipeError, EOFError):
                    return self._exchange(process, task, START_SECONDS + PATIENCE * seconds)
                self.end()
        return None, seconds

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=_ENVIRONMENT,
                bufsize=0,
            )
        return self._process

    def _exchange(
        self, process: subprocess.Popen[bytes], task: bytes, patience: float
    ) -> tuple[Any, float]:
        """Raises BrokenPipeError or EOFError if the program has ended."""
        assert process.stdin is not None
        assert process.stdout is not None
        write_message(process.stdin.fileno(), task)
        answers: list[Any] = []
        for _ in range(2):
            if not select.select([process.stdout], [], [], patience)[0]:
                raise EOFError
            message = read_message(process.stdout.fileno())
            if message is None:
                raise EOFError
            answers.append(marshal.loads(message))  # noqa: S302 - our own program sent it
        return answers[0], answers[1]

    def end(self) -> None:
        """End the process, if it runs."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with process:  # closes its pipes and waits for it
                pass

    def disown(self) -> None:
        """Forget the process: it belongs to the one that this one was forked from."""
        if self._process is not None:
            self._process.returncode = 0
            with self._process:  # closes these copies of its pipes
                pass


def is_valid(polygons: Any, seconds: float) -> tuple[bool | None, float]:
    """True if a geometry is valid, None if checking it takes longer than ``seconds`` of
    processor time; and the seconds that it took."""
    validity, used = _run("are_valid", seconds, [polygons])
    return validity and validity[0], used


def are_valid(geometries: Iterable[Any], seconds: float) -> list[bool] | None:
    """Return True for each valid geometry, or None if checking all takes longer than ``seconds`` of
    processor time."""
    validity: list[bool] | None = _run("are_valid", seconds, list(geometries))[0]
    return validity


def validity_reason(geometry: Any, seconds: float) -> str | None:
    """Return the result of ``shapely.is_valid_reason``, or None if it takes longer than ``seconds``
    of processor time."""
    reason: str | None = _run("validity_reason", seconds, [geometry])[0]
    return reason


def intersection(one: Any, other: Any, seconds: float) -> Any:
    """The intersection of two geometries, or None if it takes longer than ``seconds`` of processor
    time, or GEOS fails."""
    wkb, _ = _run("intersection", seconds, [one, other])
    return None if wkb is None else shapely.from_wkb(wkb[0])


def differences(old: Any, new: Any, box: Any, seconds: float) -> tuple[Any, Any] | None:
    """The areas that only ``new`` has, and those that only ``old`` has, within ``box`` unless that
    is None. None if finding both takes longer than ``seconds`` of processor time, or GEOS fails."""
    geometries = [old, new] if box is None else [old, new, box]
    wkb, _ = _run("differences", seconds, geometries)
    return None if wkb is None else tuple(shapely.from_wkb(wkb))


def meet_any(shapes: Sequence[Any], geometries: Sequence[Any], seconds: float) -> list[bool] | None:
    """Whether each geometry intersects one of the shapes, or None if that takes longer than
    ``seconds`` of processor time, or GEOS fails."""
    meet: list[bool] | None
    meet, _ = _run("meet_any", seconds, [*shapes, *geometries], len(shapes))
    return meet


def call_timed(
    function: Callable[..., Any],
    geometries: list[Any],
    *others: Any,
    seconds: float,
    before: Callable[[], Any],
) -> list[Any] | None:
    """Call a function of this application in the other process. Returns its result, as the only
    item of a list, or None if it takes longer than ``seconds`` of processor time, or GEOS fails.

    Args:
        function: takes the geometries and ``others``. These and its result can be marshalled.
        before: called first, without counting its time, such as a function that reads a file and
            caches it.
    """
    if seconds <= 0:
        return None
    answer: list[Any] | None
    answer, _ = _run(_name(function), seconds, geometries, *others, before=_name(before))
    return answer


def processor_seconds() -> float:
    """The processor seconds of this thread and of its tasks in the other process."""
    return thread_time() + getattr(_thread, "seconds", 0.0)


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def _run(
    name: str, seconds: float, geometries: list[Any], *others: Any, before: str = ""
) -> tuple[Any, float]:
    wkb = [shapely.to_wkb(geometry) for geometry in geometries]
    answer, used = _program.ask(marshal.dumps((name, before, seconds, wkb, *others)), seconds)
    _thread.seconds = getattr(_thread, "seconds", 0.0) + used
    processor_clock.add(used)
    return answer, used


def _forget() -> None:
    global _program
    _program.disown()
    _program = _Program()


_program = _Program()
_thread: Final = threading.local()
atexit.register(lambda: _program.end())
os.register_at_fork(after_in_child=_forget)
