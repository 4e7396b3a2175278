"""Private files appear whole or not at all; a lock is held by one, or shared by several."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from app.values.files import (
    new_private_file,
    open_lock_file,
    try_lock,
    unlock_file,
    write_private_file,
)


def test_a_private_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "key"
    write_private_file(path, b"first")
    write_private_file(path, b"second")
    assert path.read_bytes() == b"second"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_it_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with new_private_file(path) as file:
        file.write(b"half")
        assert not path.exists()
    assert path.read_bytes() == b"half"


def test_after_a_failure_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), new_private_file(path) as file:
        file.write("no bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_lock_keeps_others_out_until_it_is_released(tmp_path: Path) -> None:
    first, second = (open_lock_file(tmp_path / "lock") for _ in range(2))
    assert try_lock(first)
    assert not try_lock(second)
    assert not try_lock(second, shared=True)
    unlock_file(first)
    assert try_lock(second)
    os.close(second)
    assert try_lock(first)
    os.close(first)


def test_several_can_share_a_lock(tmp_path: Path) -> None:
    first, second, third = (open_lock_file(tmp_path / "lock") for _ in range(3))
    assert try_lock(first, shared=True)
    assert try_lock(second, shared=True)
    assert not try_lock(third)
    for descriptor in (first, second, third):
        os.close(descriptor)


def test_a_lock_can_be_waited_for(tmp_path: Path) -> None:
    first, second = (open_lock_file(tmp_path / "lock") for _ in range(2))
    assert try_lock(first)
    began = time.monotonic()
    assert not try_lock(second, wait=0.1)
    assert time.monotonic() - began >= 0.1
    release = threading.Timer(0.1, os.close, (first,))
    release.start()
    assert try_lock(second, wait=10)
    release.join()
    os.close(second)
