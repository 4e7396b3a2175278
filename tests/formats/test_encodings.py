"""Encodings that a file does not say: their names, and the likeliest ones."""

from __future__ import annotations

import pytest

from app.formats.encodings import (
    NAMES,
    decoder_of,
    encoding_name,
    likely_encodings,
    read_once,
    tokens_of,
)

# Names of the country, and the encodings that programs there write.
NAMES_OF_PLACES = (
    ("RO", "Mărişel Răşinari Ţara Haţegului Sălaşu", "cp1250 iso-8859-2 cp852"),
    ("PL", "Łódź Białowieża Żywiec Ćmielów", "cp1250 iso-8859-2 cp852 mac-latin2"),
    ("CZ", "Příbram Šumava Třebíč Žďár", "cp1250 iso-8859-2 cp852"),
    ("HR", "Čakovec Đurđevac Križevci Žumberak", "cp1250 iso-8859-2"),
    ("DE", "Wäldchen Süd–West Höhe Müllheim Straße", "cp1252 mac-roman"),
    ("DE", "Wäldchen Süd Höhe Müllheim Straße", "cp850 cp437"),
    ("ES", "Montaña Peña Bañón Nº Ávila", "cp1252 mac-roman"),
    ("EE", "Põltsamaa Võru Käärdi Šokolaad", "cp1257"),
    ("LT", "Šilutė Ąžuolas Rūkų Švenčionys", "cp1257"),
    ("TR", "Şırnak İğneada Yıldız Ağrı", "cp1254"),
    ("RU", "Дубрава Ёлки Берёзовая Роща", "cp1251 koi8-r cp866 iso-8859-5"),
    ("UA", "Київ Їжакове Лісництво", "cp1251 koi8-u"),
    ("GR", "Δάσος Άγιος Ροδόπη", "cp1253 cp737"),
    ("CN", "森林 大兴安岭 北京 林场", "gbk"),
    ("JP", "森林 ヒノキ林 北海道", "shift_jis euc-jp"),
    ("KR", "소나무 강원도 산림청", "euc-kr"),
    ("TW", "森林 阿里山 臺灣", "big5"),
    ("IL", "יער ירושלים כרמל", "cp1255"),
    ("MA", "غابة الأرز الجبل", "cp1256"),
    ("TH", "ป่าไม้ เชียงใหม่", "cp874"),
)


def test_the_letters_of_a_country_come_first(subtests: pytest.Subtests) -> None:
    for country, names, encodings in NAMES_OF_PLACES:
        for encoding in encodings.split():
            data = names.encode(decoder_of(encoding))
            with subtests.test(country=country, encoding=encoding):
                first, *others = likely_encodings(list(tokens_of(data)), {country})
                assert data.decode(decoder_of(first.name)) == names
                assert first.samples[0] in names
                assert all("\ufffd" not in text for other in others for text in other.samples)


def test_letters_alone_decide_without_a_country() -> None:
    for names, encoding in (
        ("Mărişel", "cp1250"), ("Wäldchen", "cp1252"), ("Дубрава", "cp1251"), ("m³", "cp1252"),
    ):  # fmt: skip
        (first, *_) = likely_encodings(list(tokens_of(names.encode(encoding))))
        assert (first.name, first.samples) == (encoding, [names])


def test_one_broken_character_does_not_make_unicode_another_encoding() -> None:
    data = "Wäldchen Süd Höhe Mühle Straße Fuß Öd Äcker Grün Übel Kühn Mär".encode() + b" W\xe4ld"
    assert likely_encodings(list(tokens_of(data)))[0].name == "utf-8"


def test_names_are_those_of_the_whatwg_and_of_python(subtests: pytest.Subtests) -> None:
    for labels, name in (
        ("cp1250 windows-1250 x-cp1250 CP1250 windows_1250 1250", "cp1250"),
        ("latin1 iso-8859-1 iso8859-1 l1 ascii us-ascii windows-1252", "cp1252"),
        ("iso-8859-2 latin2 l2 csisolatin2 iso_8859-2 88592 8859-2", "iso-8859-2"),
        ("iso-8859-9 latin5 windows-1254", "cp1254"),
        ("macintosh mac-roman x-mac-roman mac_roman", "mac-roman"),
        ("x-mac-cyrillic x-mac-ukrainian", "mac-cyrillic"),
        ("gbk gb2312 x-gbk chinese cp936", "gbk"),
        ("shift_jis sjis shift-jis x-sjis windows-31j ms932 csshiftjis cp932", "shift_jis"),
        ("euc-kr ks_c_5601-1987 windows-949 korean euc_kr", "euc-kr"),
        ("big5 x-x-big5 cp950", "big5"),
        ("utf8 UTF-8 unicode-1-1-utf-8 utf_8_sig 65001", "utf-8"),
        ("koi8-r koi koi8_r", "koi8-r"),
        ("tis-620 windows-874 iso-8859-11 dos-874", "cp874"),
        ("ibm866 cp866 866", "cp866"),
    ):
        for label in labels.split():
            with subtests.test(label=label):
                assert encoding_name(label) == name
    for label in (
        "rot13",
        "base64",
        "idna",
        "unicode_escape",
        "utf-7",
        "cp1",
        "",
        "\0",
        "undefined",
    ):
        assert encoding_name(label) is None, label
    assert [encoding_name(name) for name in NAMES] == list(NAMES)


def test_a_text_that_was_read_twice(subtests: pytest.Subtests) -> None:
    for text in ("Wäldchen moji – Süd", "Mărişel", "Дуб", "森林", "É", "à la carte"):
        for encoding in ("cp1252", "cp1250", "cp1251"):
            spoiled = "".join(
                bytes([byte]).decode(encoding, "replace").replace("\ufffd", chr(byte))
                for byte in text.encode()
            )
            with subtests.test(text=text, encoding=encoding):
                assert read_once(spoiled) == text
        assert read_once(text) == text
    for text in ("São Tomé", "Râul Doamnei", "Ђурђевац", "ÇİĞ", "Ã", "Â·Â", "20 °C ±5"):
        assert read_once(text) == text
