"""Where a request ends: found in every way that its bytes can arrive, and as gunicorn finds it."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from gunicorn.config import Config
from gunicorn.http import errors, get_parser

from app.processes.web_server import request_buffer
from app.processes.web_server.request_buffer import (
    SMALL,
    ByteBudget,
    RequestBuffer,
    RequestFramer,
    RequestLimits,
    RequestProgress,
    Storage,
)

CONFIG = Config()
LIMITS = RequestLimits(line=200, head=1000, body=50)

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"

COMPLETE: Mapping[str, bytes] = {
    "no body": GET,
    "no header": b"GET / HTTP/1.1\r\n\r\n",
    "an empty line before": b"\r\n" + GET,
    "an announced body": POST + b"Content-Length: 5\r\n\r\nhello",
    "odd spaces and letters": POST + b"cONTENT-lENGTH:\t 005 \r\n\r\nhello",
    "an empty announced body": POST + b"Content-Length: 0\r\n\r\n",
    "an announced body of the limit": POST + b"Content-Length: 50\r\n\r\n" + b"x" * 50,
    "a body that looks like a head": POST + b"Content-Length: 8\r\n\r\n\r\n\r\n\r\n\r\n",
    "no chunk": CHUNKED + b"0\r\n\r\n",
    "one chunk": CHUNKED + b"5\r\nhello\r\n0\r\n\r\n",
    "two chunks": CHUNKED + b"5\r\nhello\r\n0a\r\n, everyone\r\n000\r\n\r\n",
    "a chunk of line ends": CHUNKED + b"4\r\n\r\n\r\n\r\n0\r\n\r\n",
    "an extension": CHUNKED + b'5 ; a=b;c="d"\r\nhello\r\n0;e\r\n\r\n',
    "trailers": CHUNKED + b"5\r\nhello\r\n0\r\nA: b\r\nC: d\r\n\r\n",
    "an expectation": POST + b"Expect: 100-Continue\r\nContent-Length: 5\r\n\r\nhello",
}
MALFORMED: Mapping[str, bytes] = {
    "a line that ends with a line feed": b"GET / HTTP/1.1\n",
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
    "a length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "a length that is none": POST + b"Content-Length: +5\r\n\r\n",
    "another coding": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
    "another expectation": POST + b"Expect: tea\r\nContent-Length: 5\r\n\r\n",
    "a long line": b"GET /" + b"a" * LIMITS.line,
    "a size that is none": CHUNKED + b"z",
    "a sign": CHUNKED + b"+",
    "a line feed after a size": CHUNKED + b"5\n",
    "a chunk that is too long": CHUNKED + b"5\r\nhello!",
    "a long extension": CHUNKED + b"5;" + b"a" * LIMITS.line + b"bb",
    "long trailers": CHUNKED + b"0\r\n" + b"A: b\r\n" * 167,
}


def progress_of(
    data: bytes, *cuts: int, limits: RequestLimits = LIMITS
) -> tuple[RequestProgress, int]:
    """How far a framer comes when the bytes arrive in parts, and how many it then was fed."""
    framer, progress, at = RequestFramer(limits), RequestProgress.INCOMPLETE, 0
    for cut in (*cuts, len(data)):
        progress = framer.feed(data[at:cut])
        at = cut
        if progress is not RequestProgress.INCOMPLETE:
            break
    return progress, at


def cuts_of(data: bytes) -> Iterator[tuple[int, ...]]:
    """Every cut in two, every byte alone, and some cuts in three."""
    yield from ((at,) for at in range(1, len(data)))
    yield tuple(range(1, len(data)))
    yield from (tuple(sorted(random.sample(range(1, len(data)), 2))) for _ in range(50))


def test_the_end_is_found_however_the_bytes_arrive(subtests: pytest.Subtests) -> None:
    for name, data in COMPLETE.items():
        with subtests.test(name):
            for cuts in cuts_of(data):
                assert progress_of(data, *cuts) == (RequestProgress.COMPLETE, len(data)), cuts
            for length in range(len(data)):
                assert progress_of(data[:length])[0] is RequestProgress.INCOMPLETE, length
            assert progress_of(data + GET)[0] is RequestProgress.COMPLETE


def test_what_has_no_end_is_not_waited_for(subtests: pytest.Subtests) -> None:
    for name, data in MALFORMED.items():
        with subtests.test(name):
            for cuts in cuts_of(data):
                assert progress_of(data, *cuts)[0] is RequestProgress.MALFORMED, cuts


def test_a_body_past_the_limit_is_not_waited_for() -> None:
    announced = POST + b"Content-Length: 51\r\n\r\n"
    assert progress_of(announced) == (RequestProgress.BODY_TOO_LARGE, len(announced))
    chunks = CHUNKED + b"32\r\n" + b"x" * 50 + b"\r\n1\r\n"
    assert progress_of(chunks)[0] is RequestProgress.INCOMPLETE
    for cuts in cuts_of(chunks + b"x"):
        assert progress_of(chunks + b"x", *cuts)[0] is RequestProgress.BODY_TOO_LARGE


@pytest.mark.parametrize("path", [b"/v1/imports", b"/imports/new", b"/imports/new?kind=assets"])
def test_a_body_with_a_file_may_be_larger(path: bytes) -> None:
    limits = LIMITS._replace(upload=100)
    for size, progress in ((100, RequestProgress.COMPLETE), (101, RequestProgress.BODY_TOO_LARGE)):
        request = b"POST %b HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (path, size)
        assert progress_of(request + b"x" * size, limits=limits)[0] is progress


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
def test_a_head_past_the_limit_is_not_waited_for(end: bytes) -> None:
    lines = b"A: b\r\n" * 200
    assert progress_of(POST + lines + end)[0] is RequestProgress.HEAD_TOO_LARGE
    assert progress_of(POST + lines + end, 900)[0] is RequestProgress.HEAD_TOO_LARGE


def test_a_body_in_very_many_chunks_is_not_waited_for() -> None:
    """The parser takes longer for a chunk than a client does to send one."""
    limits = RequestLimits(line=200, head=1000, body=10_000_000)
    chunks = b"1\r\nx\r\n" * 250_000
    assert progress_of(CHUNKED + chunks, limits=limits)[0] is RequestProgress.CHUNKS_TOO_SMALL
    larger = b"400\r\n%s\r\n" % (b"x" * 1024) * 2_000
    assert progress_of(CHUNKED + larger, limits=limits)[0] is RequestProgress.INCOMPLETE


def test_a_client_that_waits_for_leave_is_noticed() -> None:
    head = b"POST / HTTP/1.%d\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    for version, expected in ((1, True), (0, False)):
        framer = RequestFramer(LIMITS)
        framer.feed(head % version)
        assert framer.expects_continue is expected


# Beside gunicorn's parser

HEADERS = (
    *(b"Host: a", b"Content-Length: 5", b"Content-Length:5 ", b"Content-length: 0", b"X: y"),
    *(b"Transfer-Encoding: chunked", b"transfer-encoding:CHUNKED\t", b"Expect: 100-continue"),
    *(b"Transfer-Encoding: gzip, chunked", b"Content-Length : 5", b"Content-Length: 1e1", b""),
)
BODIES = (
    *(b"hello", b"", b"5\r\nhello\r\n0\r\n\r\n", b"0\r\n\r\n", b"1;a=b\r\nx\r\n0\r\n\r\n"),
    *(b"2\r\n\r\n\r\n0\r\nA: b\r\n\r\n", b"5 \r\nhello\r\n0\r\n\r\n", b"-1\r\n", b"0\r\n\r\nGET /"),
)
NOISE = (b"\r", b"\n", b"\r\n", b"0", b"5", b";", b" ", b":", b"a", b"\xff", b"\0", b"")


def made_up(chance: random.Random) -> bytes:
    """A request, or something close to one."""
    first = chance.choice([b"GET / HTTP/1.1", b"POST /a HTTP/1.1", b"POST / HTTP/1.0", b"\r\nGET"])
    headers = chance.sample(HEADERS, chance.randrange(4))
    data = b"\r\n".join([first, *headers, b"", b""]) + chance.choice(BODIES)
    for _ in range(chance.choice([0, 0, 1, 2])):
        at = chance.randrange(len(data))
        data = data[:at] + chance.choice(NOISE) + data[at + chance.randrange(2) :]
    return data


def read_by_gunicorn(data: bytes) -> bool | None:
    """Whether gunicorn finds a whole request in these bytes; None when it wants more."""
    parser = get_parser(CONFIG, [data], ("127.0.0.1", 1))
    try:
        request = next(parser)
        body = request.body.read()
    except (errors.NoMoreData, StopIteration):
        return None
    except errors.ChunkMissingTerminator as error:
        return None if b"\r\n".startswith(error.term) else False
    except errors.ParseException:
        return False
    lengths = [int(value) for name, value in request.headers if name == "CONTENT-LENGTH"]
    return True if len(body) >= sum(lengths) else None


@pytest.mark.slow
def test_gunicorn_finds_the_same_end() -> None:
    chance = random.Random()
    found = dict.fromkeys(RequestProgress, 0)
    for _ in range(5_000):
        data = made_up(chance)
        cuts = sorted(chance.sample(range(1, len(data)), min(len(data) - 1, chance.randrange(4))))
        progress, _ = progress_of(data, *cuts)
        found[progress] += 1
        read = read_by_gunicorn(data)
        if progress is RequestProgress.COMPLETE:
            assert read is not None, data  # a thread has all that it needs
        elif progress is RequestProgress.INCOMPLETE:
            assert read is not True, data  # no client waits in vain
        else:
            assert read is not True or b"gzip" in data.lower(), data
    assert all(found[each] > 25 for each in list(RequestProgress)[:3])


# What is kept


def storage(folder: Path | None = None, memory: int = 0, files: int = 10_000_000) -> Storage:
    return Storage(folder and str(folder), ByteBudget(memory), ByteBudget(files))


def buffer(kept_in: Storage) -> RequestBuffer:
    return RequestBuffer(RequestLimits(line=200, head=SMALL, body=10_000_000), kept_in)


@pytest.mark.parametrize("memory", [0, 100_000, 10_000_000])
@pytest.mark.parametrize("size", [5, SMALL, 3_000_000])
def test_what_was_added_comes_out(size: int, memory: int, tmp_path: Path) -> None:
    data = POST + b"Content-Length: %d\r\n\r\n" % size + random.randbytes(size)
    kept = buffer(storage(tmp_path, memory))
    for at in range(0, len(data), 50_000):
        kept.add(data[at : at + 50_000])
    assert kept.is_complete
    assert list(tmp_path.iterdir()) == []  # its file has no name
    assert b"".join(kept.pieces()) == data
    kept.close()


@pytest.mark.parametrize("name", ["memory", "files"])
def test_large_requests_have_a_bound_together(name: str, tmp_path: Path) -> None:
    """Without room in files, or without any files, so that there is no other."""
    kept_in = storage(tmp_path, **{"memory": 0, "files": 0, name: 3 * SMALL})
    begun = [buffer(kept_in) for _ in range(3)]
    for each in begun:
        each.add(POST + b"Content-Length: 1000000\r\n\r\n")
    for each in begun[:2]:
        each.add(b"x" * SMALL)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        begun[2].add(b"x" * 2 * SMALL)
    begun[2].close()
    begun[0].close()
    begun[0].close()
    begun[1].add(b"x" * SMALL)
    begun[1].close()


def test_the_memory_is_given_back_to_the_last_byte(tmp_path: Path) -> None:
    kept_in = storage(tmp_path, 200_000)
    for _ in range(20):
        kept, other = buffer(kept_in), buffer(kept_in)
        for _ in range(3):
            kept.add(b"x" * 50_000)  # too long for a head; what it is does not matter
            other.add(b"x" * 50_000)
        kept.close()
        other.close()
    assert kept_in.memory.take(200_000)
    assert kept_in.files.take(10_000_000)


def test_small_requests_are_in_memory_whatever_large_ones_take(tmp_path: Path) -> None:
    kept_in = storage(tmp_path, 0, 0)
    kept = buffer(kept_in)
    kept.add(b"x" * SMALL)
    assert b"".join(kept.pieces()) == b"x" * SMALL


def test_a_folder_that_is_gone_is_no_room(tmp_path: Path) -> None:
    kept = buffer(storage(tmp_path / "gone"))
    with pytest.raises(OSError, match="gone"):
        kept.add(b"x" * (SMALL + 1))
    kept.close()


def test_more_is_read_at_once_of_a_large_body() -> None:
    kept = buffer(storage())
    least = kept.read_size
    kept.add(POST + b"Content-Length: 9000000\r\n\r\n")
    assert kept.read_size > least
    kept.close()


def test_pieces_are_small() -> None:
    """The parser copies what is left of a piece for each chunk in it."""
    kept = buffer(storage())
    kept.add(b"x" * SMALL)
    assert max(map(len, kept.pieces())) == request_buffer._PIECE
