"""The findings of the verification of an audit log."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from app.values.text import printable_text

# The kinds, with the beginning of their messages. Those in INFORMATION are not problems.
KINDS: Final[dict[str, str]] = {
    "entry_changed": "An entry was changed after it was sealed",
    "entry_removed": "An entry was removed",
    "entry_inserted": "An entry was inserted where none was sealed",
    "entry_moved": "An entry was moved to another place",
    "entry_unreadable": "A line is not an entry, or an entry was made unreadable",
    "checkpoint_changed": "A checkpoint was changed",
    "checkpoint_missing": "A checkpoint is missing",
    "checkpoint_duplicated": "A checkpoint appears twice",
    "checkpoint_unreadable": "A checkpoint cannot be read",
    "chain_broken": "A checkpoint does not follow the one before it",
    "signature_wrong": "The signature of a checkpoint is wrong",
    "key_unknown": "A checkpoint is signed with an unknown key",
    "key_other": "A key is not the one that you named",
    "log_truncated": "The end of the log is missing",
    "log_rewritten": "A checkpoint differs from the one that you kept",
    "deletion_unrecorded": "Entries are missing, and no sealed entry records their deletion",
    "deletion_early": "Entries were deleted too early",
    "file_converted": "The line ends of the file were converted to CRLF, which changes each entry",
    "file_incomplete": "The file is incomplete",
    "file_unreadable": "The file is not a complete audit log",
    "deleted_by_age": "Entries were deleted by age",
    "not_sealed": "Entries are not sealed yet, so they cannot be verified",
}
UNREADABLE: Final = "unreadable"  # the field of an unreadable entry in a file
_ID_LENGTH: Final = 64  # characters of an id in a message
INFORMATION: Final = frozenset({"deleted_by_age", "not_sealed"})


class Finding(NamedTuple):
    """A finding, and its place. What does not apply is None.

    Its text contains no control characters of the file.
    """

    kind: str  # one of KINDS
    detail: str = ""
    line: int | None = None  # the line of the file, from 1
    entry_id: str | None = None
    number: int | None = None  # the number of the entry
    checkpoint: int | None = None  # its number

    @property
    def is_problem(self) -> bool:
        return self.kind not in INFORMATION

    def record(self) -> dict[str, Any]:
        """Return the record of the finding, without what does not apply."""
        fields = {name: value for name, value in self._asdict().items() if value not in (None, "")}
        return {"problem": self.is_problem, **fields, "message": str(self)}

    def __str__(self) -> str:
        places = [
            f"{name} {value}"
            for name, value in (
                ("entry", self.entry_id and self.entry_id[:_ID_LENGTH]),
                ("number", self.number),
                ("checkpoint", self.checkpoint),
                ("line", self.line),
            )
            if value is not None
        ]
        where = f" ({', '.join(places)})" if places else ""
        detail = f": {self.detail}" if self.detail else ""
        return printable_text(f"{KINDS[self.kind]}{where}{detail}.")
