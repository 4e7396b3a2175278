"""docs/chat.md gives the numbers and the tools that hold."""

from __future__ import annotations

from app.chat.tools import TOOLS
from app.policy import chat
from tests.architecture.documents import documents

PAGE = documents()["docs/chat.md"]
ROWS = {
    "characters of a message": f"{chat.MESSAGE_LENGTH:,}",
    "earlier messages": f"{chat.HISTORY_LENGTH}, those of the assistant of up to "
    f"{chat.REPLY_LENGTH:,} characters",
    "characters of a reply": f"{chat.REPLY_LENGTH:,}",
    "total time for a question": f"{chat.SECONDS:.0f} seconds",
    "rounds of tool calls before the reply": f"{chat.ROUNDS}",
    "tool calls in one round": f"{chat.CALLS}",
    "one tool result": f"{chat.RESULT_BYTES // 1024} KB",
    "one response of the model server": f"{chat.ANSWER_BYTES // 1024**2} MB",
}


def test_the_page_gives_each_limit() -> None:
    for what, value in ROWS.items():
        (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| {what} |"))
        assert row.removeprefix(f"| {what} | ").startswith((f"{value} |", f"{value};"))


def test_the_page_names_each_tool_with_its_permission() -> None:
    for name, tool in TOOLS.items():
        assert f"| `{name}` | `{tool.permission}` |" in PAGE
