"""Bodies that are not the JSON that the service accepts."""

from __future__ import annotations

import gzip

from tests.api.corpus.case import JSON, PROJECTS, VALIDATE, Bad, create, raw

_DEEP = 100_000

CASES = [
    raw("not JSON at all", "name=Forest"),
    raw("an unfinished object", '{"name": "Forest"'),
    raw("a comma at the end", '{"name": "Forest",}'),
    raw("single quotes", "{'name': 'Forest'}"),
    raw("two documents", '{"name": "A"}{"name": "B"}'),
    raw("white space only", "  \n\t "),
    raw("a NUL byte", b'{"name": "A"}\x00'),
    raw("a raw control character in a string", b'{"name": "a\x01b"}'),
    raw("an escape that JSON does not have", r'{"name": "\x41"}'),
    raw("a byte-order mark", b'\xef\xbb\xbf{"name": "A"}'),
    raw("UTF-16", '{"name": "A"}'.encode("utf-16")),
    raw("Latin-1", '{"name": "Bäume"}'.encode("latin-1")),
    raw("an overlong encoding", b'{"name": "\xc0\xaf"}'),
    raw("an escaped lone surrogate", r'{"name": "\ud800"}'),
    raw("a lone surrogate in a name", r'{"name": "A", "\ud800": 1}'),
    raw("NaN", '{"name": NaN}'),
    raw("Infinity", '{"name": "A", "x": Infinity}'),
    raw("a number past all doubles", '{"name": 1e999}'),
    raw("a leading zero", '{"name": 01}'),
    raw("an integer of 5,000 digits", '{"name": ' + "9" * 5000 + "}"),
    raw("an integer past 64 bits", '{"name": 9223372036854775808}'),
    raw("a name twice", '{"name": "A", "name": "B"}'),
    raw("a name twice, deep inside", '{"name": "A", "x": [{"y": {"z": 1, "z": 1}}]}'),
    raw("arrays nested too deeply", "[" * _DEEP + "]" * _DEEP),
    raw("objects nested too deeply", '{"a":' * _DEEP + "1" + "}" * _DEEP),
    raw("True of Python", '{"name": True}'),
    Bad("a deep geometry to check", "POST", VALIDATE, 400, "body", b"[" * 2000, JSON),
    Bad("no body", "POST", PROJECTS, 422, "body"),
    raw("null", "null", "body", 422),
    create("an array", "body", [{"name": "A"}]),
    create("a string", "body", "name"),
    Bad(
        "a compressed body that says so",
        "POST",
        PROJECTS,
        415,
        None,
        gzip.compress(b'{"name": "A"}'),
        JSON | {"Content-Encoding": "gzip"},
    ),
    raw("a compressed body that does not say so", gzip.compress(b'{"name": "A"}')),
]
