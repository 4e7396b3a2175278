"""A process that forks children, and restarts those that die, until it is asked to stop.

It loads the application first, so that its children share that memory. It has a single thread,
which waits for signals, exits of children and the end of ``bin/serve``: a fork while another thread
holds a lock would leave the child with a lock that is never released.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

from app.processes.child_process import STOPPED_FOR, Restarts, changed_processes, describe_exit
from app.processes.parent_pipe import ParentPipe
from app.processes.signal_pipe import STOP_SIGNALS, StopRequests

log = logging.getLogger(__name__)

SILENT_FOR: Final = 15.0  # seconds without a sign of life until a child is killed

_SIGNALS: Final = (*STOP_SIGNALS, signal.SIGCHLD)


@dataclass(slots=True)
class Child:
    """A task and its process.

    Attributes:
        task: runs in the process. SIGTERM asks it to stop, by SystemExit unless the task sets its
            own handler.
        is_once: the task ends by itself. Until then, any child's death is an error.
        last_sign: returns when the process last showed that it is alive. None: it never does.
        pid: 0 while there is no process.
    """

    name: str
    task: Callable[[], None]
    is_once: bool = False
    last_sign: Callable[[], float] | None = None
    pid: int = 0
    restarts: Restarts = field(default_factory=Restarts)
    stopped_at: float | None = None  # by a signal; monotonic

    def due_at(self) -> float:
        """Return when the process has to be started or, if it is stopped or silent, killed."""
        if not self.pid:
            return self.restarts.due_at
        times = [math.inf]
        if self.stopped_at is not None:
            times.append(self.stopped_at + STOPPED_FOR)
        if self.last_sign is not None:
            times.append(max(self.restarts.started_at, self.last_sign()) + SILENT_FOR)
        return min(times)


class ChildDied(Exception):
    """A child died that is not restarted."""

    def __init__(self, name: str, status: int) -> None:
        super().__init__(f"{name} died ({describe_exit(status)})")
        self.name = name


class Parent:
    """Runs the tasks of its children.

    Args:
        restarts: restart children that die.
        end_within: seconds that children have to stop before they are killed.
        on_stop: called before children are asked to stop.
        on_end: called with the id of each process that has ended.
    """

    def __init__(
        self,
        children: Sequence[Child],
        *,
        restarts: bool = True,
        end_within: float,
        on_stop: Callable[[], None] = lambda: None,
        on_end: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._children = [*children]
        self._restarts = restarts
        self._on_stop = on_stop
        self._on_end = on_end
        self._end_within = end_within
        self._pipe = ParentPipe()  # to all children
        self._stop = StopRequests()
        self._death: ChildDied | None = None

    def run(self) -> None:
        """Keep the children running until SIGTERM, SIGINT or the end of ``bin/serve``. Then ask
        them to stop; a second signal kills them.

        Raises:
            ChildDied: a child died that is not restarted, so the others were stopped, too.
        """
        while self._stop.first_at is None:
            for child in self._children:
                if not child.pid and child.restarts.is_due and self._stop.first_at is None:
                    self._fork(child)
            due = min((child.due_at() for child in self._children), default=math.inf)
            self._stop.wait(None if due == math.inf else max(0.0, due - time.monotonic()))
            self._reap()
            self._kill_stopped()
        self._on_stop()
        self._end_all(self._stop.first_at + self._end_within)
        if self._death is not None:
            raise self._death

    def _reap(self) -> None:
        """Update the children that were stopped, continued or ended."""
        by_pid = {child.pid: child for child in self._children}
        for pid, status, _ in changed_processes():
            if child := by_pid.get(pid):
                self._note(child, status)

    def _note(self, child: Child, status: int) -> None:
        child.stopped_at = None
        if os.WIFSTOPPED(status):
            child.stopped_at = time.monotonic()
        elif not os.WIFCONTINUED(status):
            self._on_end(child.pid)
            child.pid = 0
            self._note_end(child, os.waitstatus_to_exitcode(status))

    def _kill_stopped(self) -> None:
        """Kill the children that hang, or have been stopped by a signal for too long."""
        for child in self._children:
            if child.pid and time.monotonic() > child.due_at():
                reason = "shows no sign of life" if child.stopped_at is None else "was stopped"
                log.error("process %s %s", child.name, reason)
                os.kill(child.pid, signal.SIGKILL)
                child.stopped_at = None
                child.restarts.note_start()  # it has a while to end

    def _note_end(self, child: Child, status: int) -> None:
        """Schedule the restart of a child, or stop everything if it is not restarted."""
        if self._stop.first_at is not None:
            return
        if child.is_once and status == 0:
            self._children.remove(child)
        elif not self._restarts or any(other.is_once for other in self._children):
            self._death = ChildDied(child.name, status)
            self._stop.request()
        else:
            reason, pause = describe_exit(status), child.restarts.note_death()
            log.error("process %s died (%s), restarting in %.1f s", child.name, reason, pause)

    def _fork(self, child: Child) -> None:
        child.restarts.note_start()
        # No signal reaches the child before it has set its handlers.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            child.pid = os.fork()
            if not child.pid:
                self._run_child(child)
        except OSError as error:
            child.restarts.note_death()
            log.error("process %s cannot be started: %s", child.name, error)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def _run_child(self, child: Child) -> NoReturn:
        """Run the task in the child's process, which exits when the parent has died."""
        code = 1
        try:
            self._detach_from_parent()
            with contextlib.suppress(OSError):  # the name in lists of processes, on Linux
                Path("/proc/self/comm").write_text(child.name)
            child.task()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
            if isinstance(end.code, str):  # as the interpreter would at its end
                sys.stderr.write(f"{end.code}\n")
        except BaseException:
            log.exception("process %s failed", child.name)
        finally:
            os._exit(code)

    def _detach_from_parent(self) -> None:
        """Give the child its own handlers. It ignores Ctrl-C of a terminal, as the parent sends
        SIGTERM."""
        self._stop.close()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        self._pipe.follow(partial(os._exit, 1))
        random.seed()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def _end_all(self, deadline: float) -> None:
        self._signal_all(signal.SIGTERM)
        while any(child.pid for child in self._children) and not self._stop.is_urgent:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            self._stop.wait(left)
            self._reap()
        self._signal_all(signal.SIGKILL)
        for child in self._children:
            if child.pid:
                os.waitpid(child.pid, 0)

    def _signal_all(self, number: int) -> None:
        for child in self._children:
            if child.pid:  # until it is reaped, no other process has its id
                os.kill(child.pid, number)
