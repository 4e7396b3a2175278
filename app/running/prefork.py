"""A process that forks a child for each of its tasks, and keeps them running until it is asked to
end.

It has loaded the application before, so that its children share that memory. It has one thread and
waits for signals, deaths and the end of ``bin/serve`` in one place: a fork in the middle of another
thread's work could leave the child a lock that nobody gives back.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import select
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NoReturn

from app.running.child_process import describe_exit
from app.running.parent_pipe import ParentPipe, supervisor_pipe

log = logging.getLogger(__name__)

LONG_LIFE: Final = 10.0  # seconds; a child that dies sooner is started anew after a pause
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
SAME_REQUEST: Final = 1.0  # seconds in which a second signal is the first one, sent twice

_ASKING: Final = (signal.SIGTERM, signal.SIGINT)
_SIGNALS: Final = (*_ASKING, signal.SIGCHLD)


@dataclass(slots=True)
class Child:
    """A task, and the process that does it; ``pid`` is 0 while there is none."""

    name: str
    task: Callable[[], None]
    pid: int = 0
    born_at: float = 0.0
    due_at: float = 0.0
    pause: float = 0.0


class Parent:
    """``end_within``: seconds after which the children are ended by force.

    A task is told to end by SIGTERM, which raises SystemExit until it sets a handler of its own.
    """

    def __init__(self, tasks: Mapping[str, Callable[[], None]], *, end_within: float) -> None:
        self._children = [Child(name, task) for name, task in tasks.items()]
        self._end_within = end_within
        self._lifeline = ParentPipe()
        self._supervisor = supervisor_pipe()
        self._woken, self._waker = os.pipe()
        self._asked_at: float | None = None
        self._is_hastened = False

    def run(self) -> None:
        """Keep the children running until SIGTERM, SIGINT or the end of ``bin/serve``. The first of
        them has the children end, a second signal ends them by force."""
        self._handle_signals()
        while self._asked_at is None:
            for child in self._children:
                if not child.pid and child.due_at <= time.monotonic() and self._asked_at is None:
                    self._fork(child)
            self._wait(self._until_next())
            self._reap()
        self._end(self._asked_at + self._end_within)

    def _handle_signals(self) -> None:
        """Each of them ends the wait."""
        for descriptor in (self._woken, self._waker):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in _ASKING:
            signal.signal(number, lambda *_: self._ask())

    def _ask(self) -> None:
        moment = time.monotonic()
        if self._asked_at is None:
            self._asked_at = moment
        elif moment > self._asked_at + SAME_REQUEST:
            self._is_hastened = True

    def _until_next(self) -> float | None:
        """Seconds until a child has to be started, or None when all run."""
        due = [child.due_at for child in self._children if not child.pid]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _wait(self, seconds: float | None) -> None:
        watched = [self._woken] + ([] if self._supervisor is None else [self._supervisor])
        readable, _, _ = select.select(watched, [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            while os.read(self._woken, 1024):
                pass
        if self._supervisor in readable:
            self._supervisor = None
            if self._asked_at is None:
                self._asked_at = time.monotonic()

    def _reap(self) -> None:
        """Note who died. As process 1 of a container this one buries strangers too."""
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                for child in self._children:
                    if child.pid == found[0]:
                        child.pid = 0
                        self._plan(child, os.waitstatus_to_exitcode(found[1]))

    def _plan(self, child: Child, status: int) -> None:
        """When a child that died is started again: soon, unless it dies again and again."""
        if self._asked_at is not None:
            return
        moment = time.monotonic()
        lived_long = moment - child.born_at > LONG_LIFE
        child.pause = 0.0 if lived_long else min(max(2 * child.pause, FIRST_PAUSE), LONGEST_PAUSE)
        child.due_at = moment + child.pause
        told = (child.name, describe_exit(status), child.pause)
        log.error("the process of %s died (%s); it is started again in %.1f s", *told)

    def _fork(self, child: Child) -> None:
        child.born_at = time.monotonic()
        # No signal reaches the child before it has handlers of its own.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            child.pid = os.fork()
            if not child.pid:
                self._become(child)
        except OSError as error:
            child.due_at = time.monotonic() + FIRST_PAUSE
            log.error("the process of %s cannot be started: %s", child.name, error)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def _become(self, child: Child) -> NoReturn:
        """The child's process: it goes when the parent is gone."""
        code = 1
        try:
            self._leave_parent()
            child.task()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            log.exception("the process of %s failed", child.name)
        finally:
            os._exit(code)

    def _leave_parent(self) -> None:
        """A terminal's Ctrl-C reaches the child too; the parent hands it on as SIGTERM."""
        signal.set_wakeup_fd(-1)
        os.close(self._woken)
        os.close(self._waker)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _leave)
        self._lifeline.follow(partial(os._exit, 1))
        random.seed()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def _end(self, deadline: float) -> None:
        self._signal_all(signal.SIGTERM)
        while any(child.pid for child in self._children) and not self._is_hastened:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            self._wait(left)
            self._reap()
        self._signal_all(signal.SIGKILL)
        for child in self._children:
            if child.pid:
                os.waitpid(child.pid, 0)

    def _signal_all(self, number: int) -> None:
        for child in self._children:
            if child.pid:  # until it is buried nobody else has its number
                os.kill(child.pid, number)


def _leave(*_: object) -> NoReturn:
    raise SystemExit(0)
