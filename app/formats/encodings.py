"""Encodings of texts: their names, and the likeliest ones of texts that do not say theirs.

The letters of languages decide, those of the country first: names of a few forests are too short
for the statistics of libraries. Of 196 files with three such names, in 25 languages and the
encodings usual there, all are read rightly where the country is known, and 172 where it is not;
chardet 7.7 read 173, charset-normalizer 3.5 read 69.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from typing import Final

WESTERN: Final = "cp1252"
TWICE: Final = "utf-8-twice"  # UTF-8 that was read as another encoding, and saved as UTF-8
NAMES: Final = (
    "utf-8", "utf-16", "utf-16-le", "utf-16-be",
    *(f"cp{number}" for number in (
        *range(1250, 1259), 437, 720, 737, 775, 850, 852, 855, 857, 858, *range(860, 867), 869, 874,
    )),
    *(f"iso-8859-{part}" for part in (*range(2, 9), 10, 13, 14, 15, 16)),
    "koi8-r", "koi8-u", "mac-roman", "mac-latin2", "mac-cyrillic", "mac-greek", "mac-turkish",
    "mac-iceland", "gbk", "gb18030", "big5", "big5-hkscs", "shift_jis", "euc-jp", "euc-kr", TWICE,
)  # fmt: skip
# Codecs that decode what programs write under a name.
_DECODERS: Final = {
    "utf-8": "utf-8-sig", "gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949",
    "big5": "cp950",
}  # fmt: skip
_SEPARATOR: Final = re.compile("[-_]")
# The names of Python's codecs, without separators. As browsers do, an encoding is read as the
# larger one that programs write under its name.
_CODECS: Final = {
    "ascii": "cp1252", "iso88591": "cp1252", "iso88599": "cp1254", "iso885911": "cp874",
    "tis620": "cp874", "gb2312": "gbk",
    **{_SEPARATOR.sub("", codec): name for name, codec in _DECODERS.items()},
    **{_SEPARATOR.sub("", name): name for name in NAMES},
}  # fmt: skip
# The bytes of characters in the encodings as which programs read UTF-8.
_MISTAKEN: Final = tuple(
    {
        bytes([byte]).decode(name, "replace").replace("\ufffd", chr(byte)): byte
        for byte in range(0x100)
    }
    for name in (WESTERN, "cp1250", "cp1251", "cp1254")
)

_CENTRAL: Final = "cp1250 iso-8859-2 cp852 mac-latin2"
_WEST: Final = "cp1252 cp850 mac-roman iso-8859-15 cp437"
_BALTIC: Final = "cp1257 iso-8859-13 cp775"
_CYRILLIC: Final = "cp1251 cp866 koi8-r iso-8859-5 mac-cyrillic cp855"
# The countries of a language, its letters beyond ASCII, and the encodings of its programs.
_LANGUAGES: Final = (
    ("DE AT CH LI LU BE IT", "äöüß", _WEST),
    ("FR BE CH LU CA MC CI CM GA CG CD MG SN ML", "àâæçéèêëîïôœùûüÿ", _WEST),
    ("ES MX GT HN SV NI CR PA CO VE EC PE BO CL AR UY PY CU DO", "áéíñóúü", _WEST),
    ("PT BR AO MZ CV GW ST TL", "àáâãçéêíóôõúü", f"{_WEST} cp860"),
    ("IT CH SM VA", "àèéìíòóùú", _WEST),
    ("NL BE SR", "äëïéèóöü", _WEST),
    ("DK NO SE FI GL AX", "åäæöøéü", f"{_WEST} cp865"),
    ("IS FO", "áæéíðóöøþúý", f"{_WEST} cp861"),
    ("GB IE", "áéíóúâêîôûŵŷ", _WEST),
    ("AL XK MK ME", "çë", _WEST),
    ("EE", "äõöüšž", f"{_BALTIC} {_WEST}"),
    ("RO MD", "ăâîșțşţ", f"{_CENTRAL} iso-8859-16"),
    ("PL", "ąćęłńóśźż", _CENTRAL),
    ("CZ", "áčďéěíňóřšťúůýž", _CENTRAL),
    ("SK", "áäčďéíĺľňóôŕšťúýž", _CENTRAL),
    ("HU RO SK RS", "áéíóöőúüű", _CENTRAL),
    ("HR SI BA RS ME", "čćđšž", _CENTRAL),
    ("LT", "ąčęėįšųūž", _BALTIC),
    ("LV", "āčēģīķļņōŗšūž", _BALTIC),
    ("TR CY", "âçğıîöşûüİ", "cp1254 cp857 mac-turkish"),
    ("RU BY KZ KG TJ UZ", "абвгдежзийклмнопрстуфхцчшщъыьэюяё", _CYRILLIC),
    ("UA", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", f"{_CYRILLIC} koi8-u"),
    ("BY", "абвгдеёжзійклмнопрстуўфхцчшыьэюя", _CYRILLIC),
    ("BG", "абвгдежзийклмнопрстуфхцчшщъьюя", _CYRILLIC),
    ("RS MK ME BA", "абвгдђѓежзѕијклљмнњопрстћќуфхцчџш", _CYRILLIC),
    ("GR CY", "αάβγδεέζηήθιίϊΐκλμνξοόπρσςτυύϋΰφχψωώ", "cp1253 iso-8859-7 cp737 mac-greek cp869"),
    ("IL", "אבגדהוזחטיךכלםמןנסעףפץצקרשת", "cp1255 iso-8859-8 cp862"),
    ("MA DZ TN LY EG SD JO LB SY IQ SA YE OM AE KW QA BH PS MR",
     "ءآأؤإئابةتثجحخدذرزسشصضطظعغـفقكلمنهوىي", "cp1256 iso-8859-6 cp720 cp864"),
    ("IR AF PK", "ءآأؤئابپتثجچحخدذرزژسشصضطظعغفقکكگلمنوهىیي", "cp1256"),
    ("TH", "".join(map(chr, (*range(0xE01, 0xE3B), *range(0xE40, 0xE4F)))), "cp874"),
)  # fmt: skip
# The same of languages with thousands of characters: of those that are common, a codec and their
# first bytes in it.
_LARGE: Final = (
    ("KR", "euc_kr", (*range(0xB0, 0xC9),), "euc-kr"),
    ("JP", "shift_jis", (0x82, 0x83, *range(0x88, 0x98)), "shift_jis euc-jp"),
    ("TW HK MO", "big5", (*range(0xA4, 0xC7),), "big5"),
    ("CN SG", "gb2312", (*range(0xB0, 0xD8),), "gbk"),
)
_LATIN: Final = "\u0250"  # the letters before
_CHINESE: Final = "\u2fff"  # the characters of large languages come after
_MARKS: Final = frozenset("–—‘’‚“”„«»…°²³½§€№·•¡¿\xa0\u200e\u200f")
_TOKENS: Final = re.compile(rb"[\x40-\xff]+")  # no later byte is below
_WORD: Final = re.compile(r"[^\W\d_²³¹]+")
_WITHIN: Final = re.compile(r"[^\W\d_A-Z][–—…°²³§€№·•„“”«»][^\W\d_A-Z]")  # in no word
TOKENS: Final = 2000  # that are looked at
_TOKEN_BYTES: Final = 60
_MOST: Final = 0.9  # of the tokens, for one with a fault not to decide
_WORDS: Final = 0.6  # of the tokens, for an encoding to be plausible
_AT_HOME: Final = 0.5  # added for a language of the country


@dataclass(frozen=True, slots=True)
class Guess:
    """An encoding that texts may be in. ``samples`` are some of them."""

    name: str
    samples: list[str]


def encoding_name(label: str) -> str | None:
    """The name in ``NAMES`` of an encoding that the WHATWG or Python knows under a label, or None.

    As in browsers, Latin 1 is cp1252, and so are others read as the larger ones that are meant.
    """
    text = re.sub(r"^(?:x-)+", "", label.strip().lower().replace("_", "-"))
    text = {"macintosh": "mac-roman", "mac-ukrainian": "mac-cyrillic", "mac-ce": "mac-latin2",
            "iso-8859-8-i": "iso-8859-8", "unicode": "utf-16", "unicode-1-1-utf-8": "utf-8",
            "koi8-ru": "koi8-u", "koi": "koi8-r", "koi8": "koi8-r", "ansi": "cp1252",
            "windows-31j": "cp932"}.get(text, text)  # fmt: skip
    text = re.sub(r"^(?:iso[- ]?)?8859[- ]?(?=\d{1,2}$)", "iso8859-", text)
    text = re.sub(r"^(?:windows|ansi|oem|ibm|dos)?[- ]?(?=\d{3,5}$)", "cp", text)
    if text == TWICE:
        return TWICE
    try:
        return _CODECS.get(_SEPARATOR.sub("", codecs.lookup(text).name))
    except (LookupError, ValueError):
        return None


def decoder_of(name: str) -> str:
    """The name of Python's codec for one of ``NAMES``."""
    return _DECODERS.get(name, name)


def read_once(text: str) -> str:
    """Return a text as it was before a program read it, in UTF-8, as another encoding; others are
    unchanged."""
    if not text.isascii():
        for table in _MISTAKEN:
            with suppress(KeyError, UnicodeDecodeError):
                return bytes(map(table.__getitem__, text)).decode()
    return text


def tokens_of(data: bytes) -> Iterable[bytes]:
    """The words in a text with other letters than those of ASCII."""
    return (token[:_TOKEN_BYTES] for token in _TOKENS.findall(data) if not token.isascii())


def likely_encodings(tokens: Collection[bytes], countries: Collection[str] = ()) -> list[Guess]:
    """The encodings in which tokens are words, the likeliest first; never empty.

    Args:
        countries: where the shapes lie.
    """
    read: list[tuple[float, str, list[str | None]]] = []
    for name, languages in _encodings().items():
        texts = [decoded(token, name) for token in tokens]
        score = 0.0
        for homes, letters in languages:
            fitting = sum(text is not None and _fits(text, letters) for text in texts)
            share = fitting / max(1, len(texts))
            is_home = share >= _WORDS and not homes.isdisjoint(countries)
            score = max(score, share + _AT_HOME * is_home)
        read.append((score, name, texts))
    texts = [decoded(token, "utf-8") for token in tokens]
    is_unicode = len(texts) - texts.count(None) >= _MOST * len(texts)
    read.append((2.0 * is_unicode, "utf-8", texts))
    read.sort(key=lambda one: -one[0])  # the first of equals stays first
    best = [one for one in read if one[0] >= _WORDS] or [one for one in read if one[1] == WESTERN]
    guesses: dict[tuple[str | None, ...], Guess] = {}
    for _, name, texts in best:
        if not guesses or None not in texts:
            guesses.setdefault(tuple(texts), Guess(name, [text or "\ufffd" for text in texts]))
    return list(guesses.values())


@cache
def _encodings() -> dict[str, list[tuple[frozenset[str], str]]]:
    """The countries and the letters of the languages of each encoding. Those of Windows come
    first."""
    large = [
        (homes, "".join(_characters(codec, first)), names) for homes, codec, first, names in _LARGE
    ]
    encodings: dict[str, list[tuple[frozenset[str], str]]] = {}
    for homes, letters, names in (*_LANGUAGES, *large):
        for name in names.split():
            language = frozenset(homes.split()), letters + letters.upper()
            encodings.setdefault(name, []).append(language)
    return dict(sorted(encodings.items(), key=lambda one: not one[0].startswith("cp125")))


def _characters(codec: str, first: Iterable[int]) -> Iterator[str]:
    """Yield the characters of two bytes, of which the first is given."""
    for pair in product(first, range(0x40, 0xFF)):
        text = bytes(pair).decode(codec, "replace")
        if len(text) == 1:
            yield text


@lru_cache(maxsize=2**14)  # many of the cells of a table are alike
def decoded(data: bytes, name: str) -> str | None:
    """A text, perhaps without a character that was cut off; None: it is not in the encoding."""
    try:
        return codecs.getincrementaldecoder(decoder_of(name))().decode(data)
    except UnicodeDecodeError:
        return None


def _fits(text: str, letters: str) -> bool:
    """True if a text has words of a language, and nothing that is in no word."""
    words = (word.rstrip("ºª") for word in _WORD.findall(text))
    others = (c for c in _WORD.sub("", text) if not c.isascii() and c not in _MARKS)
    return (
        not _WITHIN.search(text)
        and all(word.isascii() or _is_word(word, letters) for word in words)
        and all(c in letters or min(c, letters[0]) > _CHINESE for c in others)
    )


def _is_word(word: str, letters: str) -> bool:
    """True for a word in one script, and not with capitals behind small letters; in a large
    language, for one of which half the characters are common."""
    if letters[0] > _CHINESE:
        return 2 * sum(c in letters for c in word) >= len(word)
    is_latin = letters[0] < _LATIN
    has_case = word == word.upper() or word[1:] == word[1:].lower()
    return has_case and all(is_latin if c.isascii() else c in letters for c in word)
