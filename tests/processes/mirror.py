"""A mirror of PyPI that has what a test puts into it, over TLS or as a folder."""

from __future__ import annotations

import base64
import hashlib
import ssl
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def put_wheel(folder: Path, name: str, files: dict[str, str]) -> str:
    """Write a wheel of version 1.0, and return the lines that pin it."""
    about = f"{name}-1.0.dist-info"
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    content = files | {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{path},sha256={_digest(text)},{len(text)}" for path, text in content.items()]
    content[f"{about}/RECORD"] = "\n".join([*record, f"{about}/RECORD,,", ""])
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in content.items():
            info = zipfile.ZipInfo(path)
            info.external_attr = 0o100755 << 16  # which pip looks at
            archive.writestr(info, text)
    return f"{name}==1.0 \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


@contextmanager
def serving(folder: Path, certificate: Path) -> Iterator[tuple[str, list[str]]]:
    """The address of the index of a folder, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if not self.path.startswith("/simple/"):
                return super().do_GET()
            name = self.path.split("/")[2]
            links = (f'<a href="/{path.name}">{path.name}</a>' for path in folder.glob(f"{name}-*"))
            page = f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)
            return None

        def log_message(self, *_: object) -> None:
            pass

    def handler(*arguments: object) -> Handler:
        return Handler(*arguments, directory=str(folder))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}/simple/", asked
        server.shutdown()
