"""Zip files: what is in them, and those that are made to do harm."""

from __future__ import annotations

import os
import random
import stat
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from app.formats.features import FileInvalid
from app.formats.readers import archive as reading
from app.formats.readers.archive import Archive
from app.policy.files import ZIP_MEMBERS
from tests.processor_time import takes_at_most

Change = Callable[[zipfile.ZipInfo], None]
Opened = Callable[[Path], Archive]


def packed(folder: Path, *members: tuple[str, bytes], change: Change | None = None) -> Path:
    """A zip file; ``change`` alters what its directory says of each member."""
    path = folder / "packed.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        for info in archive.infolist() if change else ():
            change(info)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(FileInvalid) as refused:
        Archive(path)
    return str(refused.value)


def read_refusal(path: Path) -> str:
    with closing(Archive(path)) as archive, pytest.raises(FileInvalid) as refused:
        archive.open(archive.members[0]).read()
    return str(refused.value)


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens zip files that are closed after the test."""
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(closing(Archive(path)))


def test_members_are_read(tmp_path: Path, opened: Opened) -> None:
    path = packed(tmp_path, ("plots/a.shp", b"shape"), ("b.dbf", b"table" * 10_000))
    archive = opened(path)
    assert archive.members == ("plots/a.shp", "b.dbf")
    assert archive.open("b.dbf").read() == b"table" * 10_000


def test_folders_and_what_macos_adds_are_left_out(tmp_path: Path, opened: Opened) -> None:
    extra = [(name, b"") for name in ("plots/", "plots/.DS_Store", "__MACOSX/plots/._a.shp")]
    assert opened(packed(tmp_path, *extra, ("plots/a.shp", b"1"))).members == ("plots/a.shp",)


def test_names_that_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    for name in (
        *("/etc/passwd", "../a.shp", "plots/../../a.shp", "C:/a.shp"),
        *("plots\\..\\..\\a.shp", "C:\\a.shp", "\\\\server\\a.shp", "..\\photo.jpg"),
        *("a\nb.shp", "a" * 256, "ö" * 128),
    ):
        assert "has a member" in refusal(packed(tmp_path, ("fine.shp", b""), (name, b""))), name


def test_a_name_with_a_null_byte_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path, ("a.shp_/../x", b""))
    path.write_bytes(path.read_bytes().replace(b"a.shp_", b"a.shp\0"))
    assert "control character" in refusal(path)


def test_links_and_devices_are_refused(tmp_path: Path) -> None:
    for mode in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR):

        def change(info: zipfile.ZipInfo, mode: int = mode) -> None:
            info.external_attr = (mode | 0o777) << 16

        path = packed(tmp_path, ("a.shp", b"/etc/passwd"), change=change)
        assert "a link or a device" in refusal(path), mode


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    def change(info: zipfile.ZipInfo) -> None:
        info.flag_bits |= 1

    assert "without a password" in refusal(packed(tmp_path, ("a.shp", b"1"), change=change))


def test_a_compression_that_cannot_be_bounded_is_refused(tmp_path: Path) -> None:
    for compression in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        path = tmp_path / "packed.zip"
        with zipfile.ZipFile(path, "w", compression) as archive:
            archive.writestr("a.shp", b"0" * 1000)
        assert "unusual compression" in refusal(path), compression


def test_a_repeated_name_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path, ("a.shp", b"1"), ("b.shp", b"2"))
    path.write_bytes(path.read_bytes().replace(b"b.shp", b"a.shp"))
    assert '2 files named "a.shp"' in refusal(path)


def test_folders_of_windows_are_folders(tmp_path: Path, opened: Opened) -> None:
    path = packed(tmp_path, ("plots\\", b""), ("plots\\a.shp", b"1"), ("plots\\in\\b.shp", b"2"))
    archive = opened(path)
    assert archive.members == ("plots/a.shp", "plots/in/b.shp")
    assert archive.open("plots/in/b.shp").read() == b"2"


def test_too_many_layers_are_refused(tmp_path: Path) -> None:
    members = [(f"{number}.kml", b"") for number in range(ZIP_MEMBERS + 1)]
    assert "101 layers" in refusal(packed(tmp_path, *members))


def test_the_files_of_a_shapefile_are_one_and_photos_none(tmp_path: Path, opened: Opened) -> None:
    endings = (".shp", ".SHX", ".dbf", ".prj", ".cpg", ".sbn")
    members = [(f"{n}{ending}", b"1") for n in range(ZIP_MEMBERS) for ending in endings]
    photos = [(f"images/{n}.jpg", b"1") for n in range(900)]
    assert len(opened(packed(tmp_path, *members, *photos)).members) == 1500


def test_photos_are_never_unpacked(tmp_path: Path, opened: Opened) -> None:
    """So they may be of any size, and packed in any way."""

    def change(info: zipfile.ZipInfo) -> None:
        if info.filename.endswith(".jpg"):
            info.flag_bits |= 1
            info.file_size = 2**31

    path = packed(tmp_path, ("doc.kml", b"1"), ("a.jpg", b"2"), ("b.jpg", b"3"), change=change)
    archive = opened(path)
    assert archive.members == ("doc.kml", "a.jpg", "b.jpg")
    assert archive.open("doc.kml").read() == b"1"
    with pytest.raises(KeyError):
        archive.open("a.jpg")


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ZIP_ENTRIES", 3)
    members = [(f"{number}.jpg", b"") for number in range(4)]
    assert "has 4 files in it, and may have 3" in refusal(packed(tmp_path, *members))


def test_a_huge_list_of_members_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = packed(tmp_path, ("a" * 200, b""))
    content = path.read_bytes()
    start = content.index(b"PK\x01\x02")
    end = content.index(b"PK\x05\x06")
    entries = content[start:end] * 100_000
    size = len(entries).to_bytes(4, "little")
    path.write_bytes(
        content[:start] + entries + content[end : end + 12] + size + content[end + 16 :]
    )
    tracemalloc.start()
    assert "more than 10,000 files" in refusal(path)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_a_bomb_is_refused_by_its_ratio(tmp_path: Path) -> None:
    assert "unpacks to more than 10 MiB" in refusal(packed(tmp_path, ("a.shp", bytes(30_000_000))))


@pytest.mark.slow
def test_a_bomb_that_lies_about_its_size_stops_there(tmp_path: Path) -> None:
    def change(info: zipfile.ZipInfo) -> None:
        info.file_size = 1000

    bomb, small = tmp_path / "bomb.zip", tmp_path / "small.zip"
    for path, size in ((bomb, 300_000_000), (small, 3_000_000)):
        packed(tmp_path, ("a.shp", bytes(size)), change=change).rename(path)
    tracemalloc.start()
    assert "damaged" in read_refusal(bomb)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3_000_000
    assert takes_at_most(20, lambda: read_refusal(bomb), lambda: read_refusal(small))


def test_a_member_shorter_than_it_says_is_refused(tmp_path: Path) -> None:
    def change(info: zipfile.ZipInfo) -> None:
        info.file_size = 1000

    assert "damaged" in read_refusal(packed(tmp_path, ("a.shp", b"1"), change=change))


def test_members_that_share_their_content_are_refused(tmp_path: Path) -> None:
    def change(info: zipfile.ZipInfo) -> None:
        info.header_offset = 0

    members = [(name, bytes(5_000_000)) for name in ("a.shp", "b.shp")]
    path = packed(tmp_path, *members, change=change)
    assert "share their content" in refusal(path)


def test_a_member_that_quotes_the_header_of_the_next_is_refused(tmp_path: Path) -> None:
    def change(info: zipfile.ZipInfo) -> None:
        info.compress_size += 40 if info.filename == "a.shp" else 0

    path = packed(tmp_path, ("a.shp", b"1"), ("b.shp", b"2"), change=change)
    assert "share their content" in refusal(path)


def test_a_file_that_ends_early_is_refused(tmp_path: Path) -> None:
    content = packed(tmp_path, ("a.shp", os.urandom(10_000))).read_bytes()
    path = tmp_path / "cut.zip"
    for length in (0, 4, 100, 9_000, len(content) - 1):
        path.write_bytes(content[:length])
        assert "damaged or incomplete" in refusal(path)


@pytest.mark.slow
def test_a_damaged_file_is_refused_or_read_whole(tmp_path: Path) -> None:
    """Whatever byte is wrong, nothing else is raised."""
    chosen = random.Random(3)
    members = {f"{number}.shp": b"boundary " * 100 for number in range(3)}
    content = packed(tmp_path, *members.items()).read_bytes()
    path = tmp_path / "damaged.zip"
    for _ in range(400):
        damaged = bytearray(content)
        for _ in range(chosen.randint(1, 3)):
            damaged[chosen.randrange(len(damaged))] = chosen.choice((0, 255, chosen.randrange(256)))
        path.write_bytes(damaged)
        try:
            with closing(Archive(path)) as archive:
                for name in archive.members:
                    with suppress(KeyError):  # one whose ending was damaged
                        archive.open(name).read()
        except FileInvalid:
            continue
