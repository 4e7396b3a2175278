"""Files of settings are read as systemd reads them."""

from __future__ import annotations

from app.settings.environment_file import parse_environment_file

# A file, and what it is to systemd.
FILE = r"""# PORT=1
; PORT=2
  PORT = 8000
no assignment
MAIL_FROM="Canopy <canopy@example.org>"
POSTGRES=a%b@c#d$e'f"g
TRAILING=two words END
EMPTY=
JOINED="one "'two "2"' three
LINES="first
PORT=3"
CONTINUED=a\
b
ESCAPED=\"\\\$x
QUOTED="\"\\\$x\n"
SINGLE='\"'
""".replace(" END", "  ")
READ = {
    "PORT": "8000",
    "MAIL_FROM": "Canopy <canopy@example.org>",
    "POSTGRES": "a%b@c#d$e'f\"g",
    "TRAILING": "two words",
    "EMPTY": "",
    "JOINED": 'one two "2"three',
    "LINES": "first\nPORT=3",
    "CONTINUED": "ab",
    "ESCAPED": '"\\$x',
    "QUOTED": '"\\$x\\n',
    "SINGLE": '\\"',
}


def test_a_file_is_read_as_by_systemd() -> None:
    assert parse_environment_file(FILE) == READ
