"""The program that does the tasks of ``app.geometry.timed``. It forks a process for each, which the
system ends once it has used its processor time, if need be during a call of GEOS.

Tasks come on standard input, answers go to standard output. Each is marshalled, after its length in
four bytes. The program imports nothing of the application until a task names a function of it.
"""

from __future__ import annotations

import gc
import importlib
import marshal
import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import shapely

_IDLE_SECONDS: Final = 60.0  # after which the program ends, and gives its memory back


def _are_valid(*geometries: Any) -> list[bool]:
    return [bool(is_valid) for is_valid in shapely.is_valid(geometries)]


def _validity_reason(geometry: Any) -> str:
    return str(shapely.is_valid_reason(geometry))


def _intersection(one: Any, other: Any) -> list[bytes]:
    return [shapely.to_wkb(shapely.intersection(one, other))]


def _differences(old: Any, new: Any, box: Any = None) -> list[bytes]:
    """The areas that only ``new`` has, and those that only ``old`` has, within a box."""
    if box is not None:
        old, new = shapely.intersection(old, box), shapely.intersection(new, box)
    differences = shapely.difference(new, old), shapely.difference(old, new)
    return [shapely.to_wkb(difference) for difference in differences]


def _meet_any(*values: Any) -> list[bool]:
    """Whether geometries meet one of those before them, whose number is the last argument."""
    *geometries, count = values
    shapes, others = geometries[:count], geometries[count:]
    shapely.prepare(shapes)
    meets = np.any([shapely.intersects(shape, others) for shape in shapes], axis=0)
    return [bool(each) for each in meets]


TASKS: Final[dict[str, Callable[..., Any]]] = {
    "are_valid": _are_valid,
    "validity_reason": _validity_reason,
    "intersection": _intersection,
    "differences": _differences,
    "meet_any": _meet_any,
}


def main() -> None:
    """Do tasks until there are no more."""
    source, target = sys.stdin.fileno(), sys.stdout.fileno()
    while select.select([source], [], [], _IDLE_SECONDS)[0]:
        task = read_message(source)
        if task is None:
            return
        name, before, *rest = marshal.loads(task)  # noqa: S302 - the application sent it
        function = TASKS.get(name) or _function(name)
        if before:
            _function(before)()
        if not (child := os.fork()):
            _do_task(target, function, *rest)
        _, status, usage = os.wait4(child, 0)
        if status:
            write_message(target, marshal.dumps(None))
        write_message(target, marshal.dumps(usage.ru_utime + usage.ru_stime))


def _function(name: str) -> Callable[..., Any]:
    """A function of the application, ``package.module:name``, that returns its result in a list."""
    if (root := str(Path(__file__).parents[2])) not in sys.path:
        sys.path.insert(0, root)
    module, _, attribute = name.partition(":")
    function = getattr(importlib.import_module(module), attribute)
    return lambda *arguments: [function(*arguments)]


def _do_task(
    target: int, function: Callable[..., Any], seconds: float, geometries: list[bytes], *others: Any
) -> None:
    """Do a task, answer and exit. The answer is None if GEOS fails."""
    gc.disable()  # it ends soon, and collecting copies the memory that it shares
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        answer = function(*shapely.from_wkb(geometries), *others)
    except shapely.errors.GEOSException:
        answer = None
    signal.setitimer(signal.ITIMER_PROF, 0)
    write_message(target, marshal.dumps(answer))
    os._exit(0)


def read_message(source: int) -> bytes | None:
    """The next message from a file; None: there are no more."""
    size = _read_bytes(source, 4)
    return None if size is None else _read_bytes(source, int.from_bytes(size))


def write_message(target: int, message: bytes) -> None:
    """Write a message to a file."""
    left = memoryview(len(message).to_bytes(4) + message)
    while left:
        left = left[os.write(target, left) :]


def _read_bytes(source: int, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = os.read(source, size - len(parts))
        if not part:
            return None
        parts += part
    return bytes(parts)


if __name__ == "__main__":
    main()
