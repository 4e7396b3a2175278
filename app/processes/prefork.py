"""A process that forks a child for each of its tasks, and restarts those that die, until it is
asked to stop.

It loads the application first, so that its children share that memory. It has one thread, which
waits for signals, exits of children and the end of ``bin/serve`` in one place: a fork during
another thread's work could leave the child with a lock that is never released.
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

from app.processes.child_process import describe_exit
from app.processes.parent_pipe import ParentPipe, supervisor_pipe

log = logging.getLogger(__name__)

STABLE_AFTER: Final = 10.0  # seconds; a child that dies sooner is restarted after a pause
MIN_PAUSE: Final = 0.5  # seconds, doubled after each early death
MAX_PAUSE: Final = 30.0
SAME_REQUEST: Final = 1.0  # seconds in which a second signal counts as the first one, sent twice

_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_SIGNALS: Final = (*_STOP_SIGNALS, signal.SIGCHLD)


@dataclass(slots=True)
class Child:
    """A task and its process; ``pid`` is 0 while there is none. Times are monotonic."""

    name: str
    task: Callable[[], None]
    pid: int = 0
    started_at: float = 0.0
    start_at: float = 0.0
    pause: float = 0.0


class Parent:
    """Runs each task in a child. ``end_within``: the seconds that children have to stop before they
    are killed.

    A task is asked to stop by SIGTERM, which raises SystemExit unless it sets its own handler.
    """

    def __init__(self, tasks: Mapping[str, Callable[[], None]], *, end_within: float) -> None:
        self._children = [Child(name, task) for name, task in tasks.items()]
        self._end_within = end_within
        self._pipe = ParentPipe()  # to all children
        self._supervisor = supervisor_pipe()
        self._wakeup_read, self._wakeup_write = os.pipe()
        self._stop_requested_at: float | None = None
        self._stop_now = False

    def run(self) -> None:
        """Keep the children running until SIGTERM, SIGINT or the end of ``bin/serve``. Then ask
        them to stop; a second signal kills them."""
        self._handle_signals()
        while self._stop_requested_at is None:
            for child in self._children:
                is_due = not child.pid and child.start_at <= time.monotonic()
                if is_due and self._stop_requested_at is None:
                    self._fork(child)
            self._wait(self._seconds_until_start())
            self._reap()
        self._stop(self._stop_requested_at + self._end_within)

    def _handle_signals(self) -> None:
        """Let each signal end ``_wait``."""
        for descriptor in (self._wakeup_read, self._wakeup_write):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self._wakeup_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in _STOP_SIGNALS:
            signal.signal(number, lambda *_: self._request_stop())

    def _request_stop(self) -> None:
        now = time.monotonic()
        if self._stop_requested_at is None:
            self._stop_requested_at = now
        elif now > self._stop_requested_at + SAME_REQUEST:
            self._stop_now = True

    def _seconds_until_start(self) -> float | None:
        """The seconds until a child has to be started, or None when all run."""
        times = [child.start_at for child in self._children if not child.pid]
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _wait(self, seconds: float | None) -> None:
        watched = [self._wakeup_read] + ([] if self._supervisor is None else [self._supervisor])
        readable, _, _ = select.select(watched, [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            while os.read(self._wakeup_read, 1024):
                pass
        if self._supervisor in readable:
            self._supervisor = None
            if self._stop_requested_at is None:
                self._stop_requested_at = time.monotonic()

    def _reap(self) -> None:
        """Wait for processes that ended; as process 1 of a container also for orphans."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                for child in self._children:
                    if child.pid == ended[0]:
                        child.pid = 0
                        self._schedule_restart(child, os.waitstatus_to_exitcode(ended[1]))

    def _schedule_restart(self, child: Child, status: int) -> None:
        """Restart a child: at once, or after a longer pause each time it dies early."""
        if self._stop_requested_at is not None:
            return
        now = time.monotonic()
        was_stable = now - child.started_at > STABLE_AFTER
        child.pause = 0.0 if was_stable else min(max(2 * child.pause, MIN_PAUSE), MAX_PAUSE)
        child.start_at = now + child.pause
        reason = describe_exit(status)
        log.error("process %s died (%s), restarting in %.1f s", child.name, reason, child.pause)

    def _fork(self, child: Child) -> None:
        child.started_at = time.monotonic()
        # No signal reaches the child before it has set its handlers.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            child.pid = os.fork()
            if not child.pid:
                self._run_child(child)
        except OSError as error:
            child.start_at = time.monotonic() + MIN_PAUSE
            log.error("process %s cannot be started: %s", child.name, error)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def _run_child(self, child: Child) -> NoReturn:
        """Run the task in the child's process, which exits when the parent is gone."""
        code = 1
        try:
            self._detach_from_parent()
            child.task()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            log.exception("process %s failed", child.name)
        finally:
            os._exit(code)

    def _detach_from_parent(self) -> None:
        """Give the child its own handlers. A terminal's Ctrl-C, which reaches it too, is ignored:
        the parent sends SIGTERM."""
        signal.set_wakeup_fd(-1)
        os.close(self._wakeup_read)
        os.close(self._wakeup_write)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _exit)
        self._pipe.follow(partial(os._exit, 1))
        random.seed()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def _stop(self, deadline: float) -> None:
        self._signal_all(signal.SIGTERM)
        while any(child.pid for child in self._children) and not self._stop_now:
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
            if child.pid:  # until it is reaped, no other process has its id
                os.kill(child.pid, number)


def _exit(*_: object) -> NoReturn:
    raise SystemExit(0)
