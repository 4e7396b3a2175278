"""A server that sends parts of a file."""

from __future__ import annotations

from pathlib import Path

from tests.outbound.receivers import Exchange, PlainReceiver, head


class MapServer(PlainReceiver):
    """Sends parts of a file (HTTP ranges), as servers of large files do.

    ``budget`` is how many bytes it sends until it closes the connection, once.
    """

    def __init__(self, certificate: Path, path: Path) -> None:
        super().__init__(certificate)
        self.data = path.read_bytes()
        self.tag = '"1"'
        self.budget: int | None = None
        self.sent: list[tuple[int, int]] = []  # first byte, and first beyond
        self.answer = self.send_part

    def send_part(self, exchange: Exchange) -> bool:
        first, last = map(int, exchange.request.headers["range"].removeprefix("bytes=").split("-"))
        part = self.data[first : last + 1]
        headers = {
            "Content-Length": str(len(part)),
            "Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(self.data)}",
            "ETag": self.tag,
        }
        whole = len(part)
        if self.budget is not None and self.budget < whole:
            part, self.budget = part[: self.budget], None
        elif self.budget is not None:
            self.budget -= whole
        self.sent.append((first, first + len(part)))
        exchange.send(head(206, headers) + part)
        return len(part) == whole

    @property
    def tile_bytes(self) -> int:
        """How many bytes of tiles were asked for and sent."""
        start = int.from_bytes(self.data[56:64], "little")
        return sum(end - first for first, end in self.sent if first >= start)
