"""Verifying an exported audit log, line by line, with no more than one batch in memory.

Pure: it needs neither the service nor its database, and knows no secret.
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, Final

from app.audit.proof import checkpoint as proof
from app.audit.proof.checkpoint import Checkpoint
from app.audit.proof.comparing import Batch, FileEntry, entry_differences
from app.audit.proof.findings import UNREADABLE, Finding

LONGEST_LINE: Final = 16 * 1024 * 1024  # bytes
_RECORDED_SOON: Final = (
    "the entry about a deletion is sealed minutes after it, so export again if it has just happened"
)
_OLDER_ARE_LEFT: Final = (
    "entries before them are still there; if entries were deleted during the export, export again"
)
_SEALED_SOON: Final = (
    "entries are sealed within minutes, so if that is long ago, the worker has not run, or "
    "somebody has removed checkpoints: compare with one that you kept"
)
_PRUNED: Final = b'"action":"audit_log.pruned"'


class Verifier:
    """Verifies a log: call ``check`` with each line, then ``end``; both yield findings.

    Args:
        pinned: the public keys to trust, in base64; without any, the file's.
        earlier: earlier checkpoints, which the log must still contain.
        days: the days for which sealed entries must be kept; None: unknown.
    """

    def __init__(
        self,
        pinned: Iterable[str] = (),
        earlier: Iterable[Checkpoint] = (),
        days: int | None = None,
    ) -> None:
        self.account_id: str | None = None
        self.checkpoints = 0
        self.entries = 0
        self.keys: dict[str, str] = {}  # public keys, by id
        self.last: Checkpoint | None = None
        self._pinned = {base64.b64decode(key, validate=True) for key in pinned}
        self._earlier = defaultdict[int, list[Checkpoint]](list)
        for checkpoint in earlier:
            self._earlier[checkpoint.number].append(checkpoint)
        self._line = 0
        self._batch: tuple[Checkpoint, Batch] | None = None
        self._is_tail = False  # the next entries are not sealed
        self._unsealed, self._unsealed_since = 0, ""
        self._days = days
        self._deleted: Checkpoint | None = None  # the newest batch whose entries were deleted
        self._recorded_to = 0  # the highest number whose deletion a sealed entry records
        self._is_over = self._is_refused = False

    def check(self, line: bytes) -> Iterator[Finding]:
        """Yield the findings of a line, and of the batch that it completes."""
        self._line += 1
        if self._is_refused:
            return
        record = _parse_line(line)
        if self._line == 1:
            yield from self._begin(line, record)
        elif self._is_over:
            yield Finding("file_unreadable", "something follows its end", self._line)
        elif record is None:
            yield Finding("entry_unreadable", line=self._line)
        elif len(record) > 1:  # an entry: lines of the file itself have one field
            yield from self._entry(line, record)
        elif "checkpoint" in record:
            yield from self._checkpoint(record["checkpoint"])
        elif "not_sealed" in record:
            yield from self._begin_tail(record["not_sealed"])
        elif "end" in record:
            yield from self._end_of_file(record["end"])
        else:
            yield from self._entry(line, record)

    def end(self) -> Iterator[Finding]:
        """Yield the findings of the whole, once there are no more lines."""
        if self._is_refused:
            return
        yield from self._close_batch()
        if not self._is_over:
            yield Finding("file_incomplete", "export it again", self._line)
        if self._deleted is not None:
            yield from self._deletion(self._deleted)
        if self._unsealed:
            detail = f"{self._unsealed:,}, the oldest from {self._unsealed_since}; {_SEALED_SOON}"
            yield Finding("not_sealed", detail)
        yield from self._missing_earlier()

    def _begin(self, line: bytes, record: Any) -> Iterator[Finding]:
        if line.endswith(b"\r"):
            self._is_refused = True
            message = "convert them back to LF, such as with dos2unix, or export the log again"
            yield Finding("file_converted", message)
            return
        head = record.get("audit_log") if record and len(record) == 1 else None
        if not isinstance(head, Mapping) or head.get("format") != proof.FORMAT:
            self._is_refused = True
            yield Finding("file_unreadable", "export it with format=ndjson and no filters", 1)
            return
        if head.get("filters"):
            self._is_refused = True
            message = "it was exported with filters, so gaps cannot be detected; export all of it"
            yield Finding("file_unreadable", message, 1)
            return
        self.account_id = str(head.get("account_id"))
        keys = head.get("keys")
        for key in keys if isinstance(keys, list) else []:
            yield from self._key(key)

    def _key(self, record: Any) -> Iterator[Finding]:
        try:
            key_id, text = str(record["id"]), record["public_key"]
            public = proof.read_public_key(text)
        except (LookupError, TypeError, ValueError):
            yield Finding("file_unreadable", "a public key cannot be read", self._line)
            return
        self.keys[key_id] = text
        if self._pinned and public.public_bytes_raw() not in self._pinned:
            yield Finding("key_other", f"{key_id}, {text}", self._line)

    def _begin_tail(self, record: Any) -> Iterator[Finding]:
        yield from self._close_batch()
        last = self.last.last if self.last else 0
        if self._is_tail or record != {"after": last}:
            yield Finding("file_unreadable", "what is not sealed does not begin here", self._line)
        self._is_tail = True

    def _checkpoint(self, record: Any) -> Iterator[Finding]:
        yield from self._close_batch()
        try:
            checkpoint = Checkpoint.of(record)
        except ValueError as error:
            yield Finding("checkpoint_unreadable", str(error), self._line)
            return
        before = self.last.number if self.last else 0
        if checkpoint.number <= before:
            yield self._finding_about("checkpoint_duplicated", checkpoint)
            return
        yield from self._sequence(checkpoint, before)
        yield from self._content(checkpoint)
        self.checkpoints += 1
        self.last = checkpoint
        if checkpoint.entry_hashes is not None:
            self._batch = checkpoint, Batch(checkpoint.hashes())

    def _sequence(self, checkpoint: Checkpoint, before: int) -> Iterator[Finding]:
        """Yield a finding unless the checkpoint follows the last one."""
        if self._is_tail:
            yield self._finding_about(
                "chain_broken", checkpoint, "it follows entries that are not sealed"
            )
        for number in range(before + 1, min(checkpoint.number, before + 1_000)):
            yield Finding("checkpoint_missing", line=self._line, checkpoint=number)
        if checkpoint.number != before + 1:
            return
        previous = self.last.hash if self.last else proof.NO_HASH
        first = self.last.last + 1 if self.last else 1
        if checkpoint.previous_hash != previous or checkpoint.first != first:
            yield self._finding_about("chain_broken", checkpoint)

    def _content(self, checkpoint: Checkpoint) -> Iterator[Finding]:
        """Yield a finding unless the checkpoint is unchanged."""
        if checkpoint.account_id != self.account_id:
            yield self._finding_about("checkpoint_changed", checkpoint, "it is of another account")
        if checkpoint.entry_hashes is None:
            if checkpoint.first != (self._deleted.last + 1 if self._deleted else 1):
                yield self._finding_about("deletion_unrecorded", checkpoint, _OLDER_ARE_LEFT)
            self._deleted = checkpoint
        elif (
            len(checkpoint.entry_hashes) != 64 * (checkpoint.last - checkpoint.first + 1)
            or proof.checkpoint_hash(checkpoint) != checkpoint.hash
        ):
            yield self._finding_about("checkpoint_changed", checkpoint, "its hash is wrong")
        yield from self._signature(checkpoint)
        for earlier in self._earlier.pop(checkpoint.number, ()):
            if earlier.without_hashes() != checkpoint.without_hashes():
                yield self._finding_about("log_rewritten", checkpoint)

    def _signature(self, checkpoint: Checkpoint) -> Iterator[Finding]:
        key = self.keys.get(checkpoint.key_id)
        if key is None:
            yield self._finding_about("key_unknown", checkpoint, checkpoint.key_id)
        elif not proof.is_signed(proof.read_public_key(key), checkpoint):
            yield self._finding_about("signature_wrong", checkpoint)

    def _entry(self, line: bytes, record: dict[str, Any]) -> Iterator[Finding]:
        self.entries += 1
        entry = FileEntry(proof.entry_hash(line), str(record.get("id")), self._line)
        if self._is_tail and UNREADABLE in record:
            yield Finding("entry_unreadable", line=self._line, entry_id=entry.id)
        elif self._is_tail:
            self._unsealed_since = self._unsealed_since or str(record.get("at"))
            self._unsealed += 1
        elif self._batch is None or not self._batch[1].add(entry):
            yield Finding("entry_inserted", line=self._line, entry_id=entry.id)
        elif _PRUNED in line and entry.hash in self._batch[1].sealed:
            self._recorded_to = max(self._recorded_to, _deleted_to(record))

    def _deletion(self, newest: Checkpoint) -> Iterator[Finding]:
        """Yield the deletion of entries by age, and problems with it."""
        detail = f"numbers 1 to {newest.last:,}, the newest sealed {newest.sealed_at}"
        yield Finding("deleted_by_age", detail)
        if self._recorded_to < newest.last:
            yield Finding("deletion_unrecorded", _RECORDED_SOON)
        if self._days is not None and _is_younger(newest.sealed_at, self._days):
            yield Finding("deletion_early", f"they are to be kept for {self._days:,} days")

    def _close_batch(self) -> Iterator[Finding]:
        """Compare the entries of the last batch, which is now complete, with its checkpoint."""
        if self._batch is None:
            return
        (checkpoint, batch), self._batch = self._batch, None
        for kind, place, entry in entry_differences(batch.expected, batch.entries):
            yield Finding(
                f"entry_{kind}",
                line=entry.line if entry else None,
                entry_id=entry.id if entry else None,
                number=None if place is None else checkpoint.first + place,
                checkpoint=checkpoint.number,
            )

    def _end_of_file(self, record: Any) -> Iterator[Finding]:
        yield from self._close_batch()
        self._is_over = True
        counted = {"checkpoints": self.checkpoints, "entries": self.entries}
        if record != counted:
            yield Finding("file_incomplete", "its end does not match its lines", self._line)

    def _missing_earlier(self) -> Iterator[Finding]:
        last = self.last.number if self.last else 0
        for checkpoint in chain.from_iterable(self._earlier.values()):
            if checkpoint.number > last:
                yield Finding(
                    "log_truncated",
                    f"it once had entries up to number {checkpoint.last:,}",
                    checkpoint=checkpoint.number,
                )
            else:
                yield Finding("log_rewritten", "it is missing", checkpoint=checkpoint.number)

    def _finding_about(self, kind: str, checkpoint: Checkpoint, detail: str = "") -> Finding:
        return Finding(kind, detail, self._line, checkpoint=checkpoint.number)


def verify_lines(lines: Iterable[bytes], verifier: Verifier) -> Iterator[Finding]:
    """Yield the findings of all lines of a file, with or without their line ends."""
    for line in lines:
        yield from verifier.check(line.removesuffix(b"\n"))
    yield from verifier.end()


def _parse_line(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _deleted_to(entry: dict[str, Any]) -> int:
    """Return the highest number whose deletion an entry records, or 0."""
    try:
        return int(entry["changes"]["first_number"]["to"]) - 1
    except (LookupError, TypeError, ValueError, OverflowError):
        return 0


def _is_younger(sealed_at: str, days: int) -> bool:
    try:
        sealed = datetime.fromisoformat(sealed_at)
        return datetime.now(UTC) - sealed < timedelta(days=days)
    except (TypeError, ValueError, OverflowError):  # its signature is wrong, or this is no time
        return False
