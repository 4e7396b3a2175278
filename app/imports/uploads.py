"""Uploaded files. They are stored in the database: their worker may be on another host."""

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
from app.settings.current import current_settings
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
_COPIES_FOLDER: Final = "imports"  # in the instance folder
_OLD_SECONDS: Final = 3600.0
_UNSAFE: Final = re.compile(r"[/\\\x00-\x1f]")
_NAME_LENGTH: Final = 50  # characters, of up to 4 bytes: file systems allow 255


def store_file(account_id: str, file: IO[bytes], in_transaction: Transaction) -> str:
    """Store a file, a transaction for each piece. Returns the id of the upload.

    At the end of the request, the file is deleted if no import uses it.

    Raises:
        PayloadTooLarge: it is larger than ``MAX_IMPORT_BYTES``.
    """
    limit = current_settings().max_import_bytes
    if file.seek(0, SEEK_END) > limit:
        raise PayloadTooLarge(f"The file is larger than {limit:,} bytes.")
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
    """Delete a file that no import uses. If that fails, a job does it later."""
    with suppress(SQLAlchemyError):
        db.session.rollback()  # after an unexpected error
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
    """Store a piece of a file in the current transaction."""
    row = {
        "upload_id": upload_id,
        "number": number,
        "account_id": account_id,
        "data": data,
        "created_at": clock.now(),
    }
    insert_row(ImportFile, row)


def upload_filename(path: str) -> str:
    """The last part of a path, without control characters."""
    name = re.split(r"[/\\]", path)[-1]
    return "".join(char for char in name if unicodedata.category(char) != "Cc") or "file"


@contextmanager
def local_copy(account_id: str, upload_id: str, filename: str) -> Iterator[Path]:
    """Copy a file into the instance folder, and delete the copy at the end.

    It keeps its name: a layer without a name is named after its file. Raises OSError if there is
    no room.
    """
    folder = _uploads_folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        path = Path(temporary) / (_UNSAFE.sub("_", filename)[-_NAME_LENGTH:].lstrip(".") or "file")
        number = 0
        with path.open("wb") as file:
            while row := _PIECE.first(account_id=account_id, upload_id=upload_id, number=number):
                file.write(row.data)
                number += 1
        yield path


def delete_upload(import_: Import) -> None:
    """Delete the file of an import, if it still has one, in the current transaction."""
    if import_.upload_id is None:
        return
    _delete_pieces(import_.account_id, import_.upload_id)
    import_.upload_id = None


def delete_old_upload_copies() -> None:
    """Delete copies that killed workers have left on this host."""
    for path in _uploads_folder().glob("*"):
        with suppress(FileNotFoundError):  # another worker has deleted it
            if time.time() - path.stat().st_mtime > _OLD_SECONDS:
                shutil.rmtree(path, ignore_errors=True)


def has_copies() -> bool:
    """True if there are copies on this host, of workers that may have been killed."""
    return any(_uploads_folder().glob("*"))


def _uploads_folder() -> Path:
    return Path(current_app.instance_path) / _COPIES_FOLDER
