"""Many checks of one kind in one test: the cells of a table, the rows of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Cell = Callable[[str], AbstractContextManager[None]]


@contextmanager
def every_cell() -> Iterator[Cell]:
    """Go on after a cell that failed, and fail at the end with all of them by name.

    ``with every_cell() as cell:``, and in it ``with cell(name):`` around each cell's assertions.
    """
    failed: list[str] = []

    @contextmanager
    def cell(name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {error}")

    yield cell
    assert not failed, "\n".join([f"{len(failed)} cells failed", *failed])
