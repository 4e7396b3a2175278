"""What is sent of responses later."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from app.processes.web_server import response_buffer
from app.processes.web_server.response_buffer import (
    _PIECE,
    MAX_HELD,
    ResponseBuffer,
    SlowReaders,
    UnreadMemory,
    pace_response,
)

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


def response_to(sock: socket.socket) -> ResponseBuffer:
    """One whose head has been written."""
    response = ResponseBuffer(sock, UnreadMemory(None))
    response.sendall(HEAD)
    return response


class Connection(NamedTuple):
    sock: socket.socket
    response: ResponseBuffer
    sender: str = ""


def test_one_reader_keeps_the_leader_for_a_piece_at_most() -> None:
    server, client = socket.socketpair()
    finished: list[object] = []
    with server, client, selectors.DefaultSelector() as poller:
        response = response_to(server)
        response.sendall(bytes(MAX_HELD))
        conn = Connection(server, response)
        reading = SlowReaders(lambda conn: finished.append("sent"), finished.append)
        reading.add(conn, poller)
        fast = threading.Thread(target=_read_all, args=(client,))
        fast.start()
        while not finished:
            before = response.size
            ((key, _),) = poller.select()
            key.data()
            assert 0 <= before - response.size <= _PIECE
        response.close()
        server.shutdown(socket.SHUT_WR)
        fast.join()
    assert finished == ["sent"]
    assert len(reading) == 0


def test_whoever_leaves_most_unread_is_dropped_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not somebody else, who came before and reads a little."""
    monkeypatch.setattr(response_buffer, "MAX_UNREAD", 8_000_000)
    dropped: list[Connection] = []
    with ExitStack() as stack, selectors.DefaultSelector() as poller:
        reading = SlowReaders(lambda conn: None, dropped.append)
        for sender in "abbbb":
            server, client = socket.socketpair()
            stack.enter_context(server)
            stack.enter_context(client)
            response = response_to(server)
            response.sendall(bytes(2_000_000))
            reading.add(Connection(server, response, sender), poller)
    assert [conn.sender for conn in dropped] == ["b"]


def _read_all(client: socket.socket) -> None:
    while client.recv(_PIECE):
        pass


def test_a_paced_response_waits_for_its_client() -> None:
    """It keeps as little as it is told, whatever comes."""
    held = []
    server, client = socket.socketpair()
    with server, client:
        response = response_to(server)
        pace_response(100_000, 60)
        reader = threading.Thread(target=_read_all, args=(client,))
        reader.start()
        for _ in range(100):
            response.sendall(bytes(50_000))
            held.append(response.size)
        server.shutdown(socket.SHUT_WR)
        reader.join()
    assert max(held) <= 100_000


def test_a_paced_response_has_an_end() -> None:
    server, client = socket.socketpair()
    with server, client:
        response = response_to(server)
        pace_response(1, 0.2)
        began = time.monotonic()
        with pytest.raises(BrokenPipeError):
            response.sendall(bytes(10_000_000))
        assert time.monotonic() - began < 30


def test_pacing_is_of_the_response_of_the_thread() -> None:
    server, client = socket.socketpair()
    with server, client:
        response = response_to(server)
        other = threading.Thread(target=pace_response, args=(1, 1))
        other.start()
        other.join()
        assert response.max_size == MAX_HELD
