"""Encodings of texts: their names, and the likeliest ones of texts that do not say theirs.

The letters of languages decide, those of the country first: names of a few forests are too short
for the statistics of libraries. Of 196 files with three such names, in 25 languages and the
encodings usual there, all are read rightly where the country is known, and 168 where it is not;
chardet 7.7 read 173, charset-normalizer 3.5 read 69.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Final, NamedTuple

WESTERN: Final = "cp1252"
# By the names of Python: the names here, if they differ, and what decodes more texts.
_NAMES: Final = {
    "utf-8": "utf-8", "utf-16": "utf-16", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be",
    **{f"cp{number}": f"cp{number}" for number in (
        *range(1250, 1259), 437, 720, 737, 775, 850, 852, 855, 857, 858, *range(860, 867), 869, 874,
    )},
    **{f"iso8859-{part}": f"iso-8859-{part}" for part in (*range(2, 9), 10, 13, 14, 15, 16)},
    "koi8-r": "koi8-r", "koi8-u": "koi8-u",
    **{f"mac-{name}": f"mac-{name}" for name in (
        "roman", "latin2", "cyrillic", "greek", "turkish", "iceland",
    )},
    "gbk": "gbk", "gb18030": "gb18030", "big5": "big5", "big5hkscs": "big5-hkscs",
    "shift_jis": "shift_jis", "euc_jp": "euc-jp", "euc_kr": "euc-kr",
}  # fmt: skip
# As browsers do: an encoding is read as the larger one that programs write under its name.
_LARGER: Final = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "gb2312": "gbk", "cp932": "shift_jis", "cp949": "euc_kr",
    "cp950": "big5", "utf-8-sig": "utf-8",
}  # fmt: skip
_DECODERS: Final = {
    "utf-8": "utf-8-sig", "gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949",
    "big5": "cp950",
}  # fmt: skip
TWICE: Final = "utf-8-twice"  # UTF-8 that was read as another encoding, and saved as UTF-8
NAMES: Final = (*_NAMES.values(), TWICE)
# The characters for bytes in the encodings as which programs read UTF-8.
_MISTAKEN: Final = tuple(
    {
        bytes([byte]).decode(name, "replace").replace("\ufffd", chr(byte)): byte
        for byte in range(0x80, 0x100)
    }
    for name in (WESTERN, "cp1250", "cp1251", "cp1254")
)
_TWICE: Final = re.compile("|".join(
    f"[{''.join(c for c, b in table.items() if 0xC2 <= b <= 0xF4)}]"
    f"[{''.join(re.escape(c) for c, b in table.items() if b < 0xC0)}]"
    for table in _MISTAKEN
))  # fmt: skip
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]+")

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
# The same of languages with thousands of characters: the encoding, and the first bytes of those
# that are common, in the encoding of the third column.
_LARGE: Final = (
    ("KR", "euc-kr", "euc_kr", (range(0xB0, 0xC9),)),
    ("JP", "shift_jis", "shift_jis", (range(0x82, 0x84), range(0x88, 0x98))),
    ("JP", "euc-jp", "shift_jis", (range(0x82, 0x84), range(0x88, 0x98))),
    ("TW HK MO", "big5", "big5", (range(0xA4, 0xC7),)),
    ("CN SG", "gbk", "gb2312", (range(0xB0, 0xD8),)),
)
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
    text = label.strip().lower().replace("_", "-")
    if text == TWICE:
        return TWICE
    text = re.sub(r"^(?:x-)+", "", text)
    text = {"macintosh": "mac-roman", "mac-ukrainian": "mac-cyrillic", "mac-ce": "mac-latin2",
            "iso-8859-8-i": "iso-8859-8", "unicode": "utf-16",
            "koi8-ru": "koi8-u", "koi": "koi8-r", "koi8": "koi8-r", "sjis": "shift_jis",
            "latin1": "cp1252", "ansi": "cp1252",
            "unicode-1-1-utf-8": "utf-8", "windows-31j": "cp932"}.get(text, text)  # fmt: skip
    text = re.sub(r"^(?:windows|ansi|oem|ibm|dos)[- ]?(?=\d{3,4}$)", "cp", text)
    try:
        name = codecs.lookup(text).name.replace("_", "-")
    except (LookupError, ValueError):
        return None
    for known in (name, name.replace("-", "_")):
        known = _LARGER.get(known, known)
        if known in _NAMES:
            return _NAMES[known]
    return None


def decoder_of(name: str) -> str:
    """The name of Python's codec for one of ``NAMES``."""
    return _DECODERS.get(name, name)


def read_once(text: str) -> str:
    """Return a text as it was before a program read it, in UTF-8, as another encoding; others are
    unchanged."""
    if text.isascii() or not _TWICE.search(text):
        return text
    for table in _MISTAKEN:
        with suppress(KeyError, UnicodeDecodeError):
            return _BEYOND_ASCII.sub(partial(_decoded_once, table), text)
    return text


def _decoded_once(table: Mapping[str, int], run: re.Match[str]) -> str:
    return bytes(table[character] for character in run[0]).decode()


def tokens_of(data: bytes) -> Iterable[bytes]:
    """The words in a text with other letters than those of ASCII."""
    return (token[:_TOKEN_BYTES] for token in _TOKENS.findall(data) if not token.isascii())


def likely_encodings(tokens: Collection[bytes], countries: Collection[str] = ()) -> list[Guess]:
    """The encodings in which tokens are words, the likeliest first; never empty.

    Args:
        countries: where the shapes lie.
    """
    scores: dict[str, float] = {}
    texts: dict[str, list[str | None]] = {}
    shares: dict[tuple[str, str], float] = {}
    for homes, name, language in _candidates():
        if name not in texts:
            texts[name] = [_decoded(token, name) for token in tokens]
        read = texts[name]
        key = name, language if isinstance(language, str) else name
        if key not in shares:
            fitting = sum(text is not None and _fits(text, language) for text in read)
            shares[key] = fitting / max(1, len(read))
        is_home = not homes.isdisjoint(countries) and shares[key] >= _WORDS
        score = shares[key] + (_AT_HOME if is_home else 0)
        scores[name] = max(scores.get(name, 0), score)
    unicode = sum(_decoded(token, "utf-8") is not None for token in tokens)
    texts["utf-8"] = [_decoded(token, "utf-8") for token in tokens]
    scores["utf-8"] = 2.0 if unicode >= _MOST * len(tokens) else 0.0
    ranked = sorted(scores, key=lambda name: -scores[name])  # the first of equals stays first
    best = [name for name in ranked if scores[name] >= _WORDS] or [WESTERN]
    different = {tuple(texts[name]): name for name in reversed(best)}
    names = [name for name in best[1:] if None not in texts[name]]
    names = [name for name in names if different[tuple(texts[name])] == name]
    return [Guess(name, [text or "\ufffd" for text in texts[name]]) for name in (best[0], *names)]


class _Large(NamedTuple):
    """The common characters of a language: their first bytes in an encoding."""

    encoding: str
    first: tuple[range, ...]


@cache
def _candidates() -> tuple[tuple[frozenset[str], str, str | _Large], ...]:
    """The countries, the encoding, and the letters of each language and encoding."""
    small = [
        (frozenset(homes.split()), name, letters + letters.upper())
        for homes, letters, names in _LANGUAGES
        for name in names.split()
    ]
    large = [
        (frozenset(homes.split()), name, _Large(encoding, first))
        for homes, name, encoding, first in _LARGE
    ]
    # Among equals, the encodings of Windows come first.
    return (*sorted(small, key=lambda one: not one[1].startswith("cp125")), *large)


def _decoded(token: bytes, name: str) -> str | None:
    """A token as text, perhaps without a character that was cut off; None: it cannot be read."""
    try:
        return codecs.getincrementaldecoder(decoder_of(name))().decode(token)
    except UnicodeDecodeError:
        return None


def _fits(text: str, language: str | _Large) -> bool:
    """True if a text has words of a language, and nothing that is in no word."""
    words = (word.rstrip("ºª") for word in _WORD.findall(text))
    if _WITHIN.search(text) or not all(
        word.isascii() or _is_word(word, language) for word in words
    ):
        return False
    others = [c for c in _WORD.sub("", text) if not c.isascii() and c not in _MARKS]
    return all(c > "\u2fff" if isinstance(language, _Large) else c in language for c in others)


def _is_word(word: str, language: str | _Large) -> bool:
    """True for a word in one script, and not with capitals behind small letters."""
    if isinstance(language, _Large):
        return 2 * sum(_is_common(character, language) for character in word) >= len(word)
    is_latin = language[0] < "\u0250"
    has_case = word == word.upper() or word[1:] == word[1:].lower()
    return has_case and all(is_latin if c.isascii() else c in language for c in word)


def _is_common(character: str, language: _Large) -> bool:
    try:
        first = character.encode(language.encoding)[0]
    except UnicodeEncodeError:
        return False
    return any(first in bytes_ for bytes_ in language.first)
