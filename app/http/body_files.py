"""Files for response bodies that may not fit into memory."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, Final

from flask import current_app

from app.http.errors import ServiceUnavailable

log = logging.getLogger(__name__)

IN_MEMORY: Final = 8 * 1024 * 1024
BLOCK: Final = 256 * 1024
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def body_file(advice: str) -> Iterator[tuple[IO[bytes], ExitStack]]:
    """Yield (file for a body, in memory while it is small, stack that closes it after the block).

    After ``stack.pop_all()`` the caller must close the file.

    Args:
        advice: how the client gets a smaller response, for the message.

    Raises:
        ServiceUnavailable: there is no room on the disk.
    """
    folder = current_app.instance_path  # not /tmp, which is memory on many machines
    place = folder if os.path.isdir(folder) else None
    try:
        with ExitStack() as stack:
            yield stack.enter_context(SpooledTemporaryFile(IN_MEMORY, dir=place)), stack
    except OSError as error:  # also when closing the file, which writes the rest
        if error.errno not in _NO_ROOM:
            raise
        log.error("no disk space for the body of a response: %s", error)
        message = f"The server has no room for a page of this size. {advice}"
        raise ServiceUnavailable(message) from None


def blocks_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the rest of a file, from its current position."""
    return iter(partial(file.read, BLOCK), b"")
