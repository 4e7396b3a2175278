"""What the poller sends of responses."""

from __future__ import annotations

import selectors
import socket
import threading
from typing import NamedTuple

from app.web_server.response_buffer import _PIECE, MAX_HELD, ResponseBuffer, SlowReaders


class Connection(NamedTuple):
    sock: socket.socket
    response: ResponseBuffer


def test_one_reader_keeps_the_poller_for_a_piece_at_most() -> None:
    server, client = socket.socketpair()
    finished: list[object] = []
    with server, client, selectors.DefaultSelector() as poller:
        response = ResponseBuffer(server)
        response.sendall(bytes(MAX_HELD))
        conn = Connection(server, response)
        reading = SlowReaders(lambda conn, outcome: finished.append(outcome), finished.append)
        reading.add(conn, "sent", poller)
        fast = threading.Thread(target=_read_all, args=(client,))
        fast.start()
        while not finished:
            before = response.size
            ((key, _),) = poller.select()
            key.data(key.fileobj)
            assert 0 <= before - response.size <= _PIECE
        server.shutdown(socket.SHUT_WR)
        fast.join()
    assert finished == ["sent"]
    assert len(reading) == 0


def _read_all(client: socket.socket) -> None:
    while client.recv(_PIECE):
        pass
