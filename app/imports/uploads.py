"""Uploaded files, stored in the database: the worker that reads one may be on another host."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import SEEK_END
from pathlib import Path
from typing import IO, Final

from flask import Response, after_this_request, current_app
from sqlalchemy import bindparam, delete
from sqlalchemy.exc import SQLAlchemyError

from app.auth.tenant import columns_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.transactions import Transaction, insert_row
from app.http.errors import PayloadTooLarge
from app.models import Import, ImportFile
from app.policy.imports import CHUNK_BYTES
from app.values import clock
from app.values.ids import new_id

_PIECE: Final = CompiledQuery(
    columns_of(ImportFile, ImportFile.data).where(
        ImportFile.upload_id == bindparam("upload_id"), ImportFile.number == bindparam("number")
    )
)
_USED: Final = CompiledQuery(
    columns_of(Import, Import.id).where(Import.upload_id == bindparam("upload_id"))
)
_FOLDER: Final = "imports"  # in the instance folder
_OLD_SECONDS: Final = 3600.0
_UNSAFE: Final = re.compile(r"[/\\\x00-\x1f]")
_NAME_LENGTH: Final = 50  # characters, so that it has no more bytes than a name can have


def store_file(account_id: str, file: IO[bytes], in_transaction: Transaction) -> str:
    """Store a file, one transaction for each piece. Returns the id of the upload. Unless an import
    has it at the end of the request, the file is deleted then.

    Raises:
        PayloadTooLarge: it is larger than ``MAX_IMPORT_BYTES``.
    """
    most = current_app.config["SETTINGS"].max_import_bytes
    if file.seek(0, SEEK_END) > most:
        raise PayloadTooLarge(f"The file is larger than {most:,} bytes.")
    file.seek(0)
    upload_id = new_id("upload")
    after_this_request(partial(_delete_unused, account_id, upload_id, in_transaction))
    for number, piece in enumerate(iter(partial(file.read, CHUNK_BYTES), b"")):
        with in_transaction():
            _add_piece(account_id, upload_id, number, piece)
    return upload_id


def _delete_unused(
    account_id: str, upload_id: str, in_transaction: Transaction, response: Response
) -> Response:
    """Delete a file that no import has. If that fails, or the process dies, a job does it."""
    with suppress(SQLAlchemyError):
        db.session.rollback()  # an unexpected error may have left something open
        if _USED.first(account_id=account_id, upload_id=upload_id) is None:
            with in_transaction():
                _delete_pieces(account_id, upload_id)
    return response


def _delete_pieces(account_id: str, upload_id: str) -> None:
    db.session.execute(
        delete(ImportFile).where(
            ImportFile.account_id == account_id, ImportFile.upload_id == upload_id
        )
    )


def _add_piece(account_id: str, upload_id: str, number: int, data: bytes) -> None:
    """Store the next piece of a file, in the current transaction: other writers wait for it."""
    row = {
        "upload_id": upload_id,
        "number": number,
        "account_id": account_id,
        "data": data,
        "created_at": clock.now(),
    }
    insert_row(ImportFile, row)


def plain_filename(sent: str) -> str:
    """The last part of a path, without control characters, as the name of a file."""
    name = re.split(r"[/\\]", sent)[-1]
    return "".join(char for char in name if unicodedata.category(char) != "Cc") or "file"


@contextmanager
def local_copy(account_id: str, upload_id: str, filename: str) -> Iterator[Path]:
    """The file on this host, in the instance folder; it is deleted at the end.

    It has the name that its owner gave it, because a layer without a name is named after its file.

    Raises OSError when there is no room for it.
    """
    folder = _folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as own:
        path = Path(own) / (_UNSAFE.sub("_", filename)[-_NAME_LENGTH:].lstrip(".") or "file")
        number = 0
        with path.open("wb") as file:
            while row := _PIECE.first(account_id=account_id, upload_id=upload_id, number=number):
                file.write(row.data)
                number += 1
        yield path


def delete_upload(found: Import) -> None:
    """Delete the file of an import, if it still has one, in the current transaction."""
    if found.upload_id is None:
        return
    _delete_pieces(found.account_id, found.upload_id)
    found.upload_id = None


def delete_old_copies() -> None:
    """Delete the files that killed workers have left on this host."""
    for path in _folder().glob("*"):
        with suppress(FileNotFoundError):  # another worker is done with it
            if time.time() - path.stat().st_mtime > _OLD_SECONDS:
                shutil.rmtree(path, ignore_errors=True)


def has_copies() -> bool:
    """True if there are files of a worker on this host, which may have been killed."""
    return any(_folder().glob("*"))


def _folder() -> Path:
    return Path(current_app.instance_path) / _FOLDER
