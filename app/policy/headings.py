"""The usual headings of columns in files, by what is in the column and by language.

Another heading is another word of a line: in lower case and without spaces, with its accents. The
likeliest come first. A line is of one language, or of all that have the same words; "" is for words
of programs, and for those of so many languages that they tell none. Fields have their own names as
headings besides.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

HEADINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "name": {
        "": "name",
        "ar": "الاسم اسم",
        "bg": "име наименование",
        "ca fr": "nom",
        "cs": "název jméno",
        "da no": "navn",
        "el": "όνομα ονομασία",
        "es": "nombre",
        "et": "nimi nimetus",
        "fi": "nimi",
        "hr": "naziv ime",
        "hu": "név megnevezés",
        "id": "nama",
        "it pt": "nome",
        "ja": "名前 名称",
        "ka": "სახელი",
        "ko": "이름 명칭",
        "lt": "pavadinimas",
        "lv": "nosaukums",
        "nl": "naam",
        "pl": "nazwa",
        "ro": "nume denumire",
        "ru": "имя название наименование",
        "sk": "názov meno",
        "sl": "ime naziv",
        "sr": "име назив",
        "sv": "namn",
        "tr": "isim adı",
        "uk": "назва найменування",
        "vi": "tên",
        "zh": "名称 名稱 名字",
    },
    "title": {  # which means nothing but names either
        "": "productionplace",
        "de": "bezeichnung titel",
        "en": "title label",
        "es": "denominación título",
        "fr": "titre libellé libgeo dénomination",
        "it": "denominazione titolo",
        "nl": "benaming titel",
        "pt": "denominação título",
    },
    "unit": {  # what is in the file, or what it lies in
        "de": "flurstück abteilung bestand schlag revier",
        "en": "parcel plot field stand compartment lot apn site district project reserve park area"
        " forest wood region",
        "es": "parcela predio rodal finca",
        "fr": "parcelle",
        "it": "particella appezzamento",
        "nl": "perceel",
        "pl": "działka wydzielenie",
        "pt": "parcela talhão",
        "ro": "parcela",
        "ru": "участок выдел",
        "uk": "ділянка виділ",
    },
    "number": {  # beside a unit
        "": "no num",
        "de nl": "nummer",
        "en": "number ref",
        "es it pt": "numero",
        "pl": "numer",
    },
    "code": {  # of anything; behind a unit, it is a number too
        "": "id nr code cod kod",
        "es pt": "codigo",
        "it": "codice",
    },
    "other": {  # whose name is not the name of a place
        "": "user file layer folder species scientific common",
        "de": "besitzer eigentümer bewirtschafter erzeuger kunde betrieb",
        "en": "producer owner client customer farmer farm grower operator contact surveyor"
        " street road",
        "es": "propietario productor cliente dueño agricultor",
        "fr": "propriétaire producteur exploitant client",
        "it": "proprietario produttore cliente",
        "nl": "eigenaar",
        "pl": "właściciel",
        "pt": "proprietário produtor cliente agricultor",
        "ro": "proprietar producător",
    },
    "external_id": {
        "": "externalid",
        "de": "externeid",
        "es pt": "idexterno",
        "fr": "idexterne identifiantexterne",
        "it": "idesterno",
        "nl": "externid",
        "pl": "idzewnętrzny",
    },
    "description": {
        "bg ru": "описание",
        "ca": "descripció",
        "cs sk": "popis",
        "da no": "beskrivelse",
        "de": "beschreibung",
        "el": "περιγραφή",
        "en fr": "description",
        "es": "descripción",
        "et": "kirjeldus",
        "fi": "kuvaus",
        "hr pl sl": "opis",
        "hu": "leírás",
        "id": "deskripsi",
        "it": "descrizione",
        "ja": "説明",
        "lt": "aprašymas",
        "lv": "apraksts",
        "nl": "omschrijving beschrijving",
        "pt": "descrição",
        "ro": "descriere",
        "sv": "beskrivning",
        "tr": "açıklama",
        "uk": "опис",
        "zh": "描述 说明",
    },
    "latitude": {  # the last of its words; those before them are the same in both columns
        "": "lat latstd latdd latdecimaldegrees latstddecimaldegrees",
        "cs": "zeměpisnášířka",
        "da no": "breddegrad",
        "de": "breite breitengrad",
        "el": "γεωγραφικόπλάτος",
        "en": "latitude decimallatitude",
        "es": "latitud",
        "et": "laiuskraad",
        "fi": "leveysaste leveyspiiri",
        "fr pt": "latitude",
        "hr sl": "geografskaširina",
        "hu": "szélességifok földrajziszélesség",
        "id": "lintang",
        "it ro": "latitudine",
        "ja": "緯度",
        "ko": "위도",
        "lt": "platuma",
        "lv": "platumagrādi ģeogrāfiskaisplatums",
        "nl": "breedtegraad",
        "pl": "szerokośćgeograficzna szergeogr",
        "ru uk": "широта",
        "sk": "zemepisnášírka",
        "sv": "latitud breddgrad",
        "tr": "enlem",
        "zh": "纬度 緯度",
    },
    "longitude": {
        "": "lon lng long longstd londd longdd longdecimaldegrees longstddecimaldegrees",
        "cs": "zeměpisnádélka",
        "da": "længdegrad",
        "de": "länge laenge längengrad laengengrad",
        "el": "γεωγραφικόμήκος",
        "en": "longitude decimallongitude",
        "es": "longitud",
        "et": "pikkuskraad",
        "fi": "pituusaste pituuspiiri",
        "fr pt": "longitude",
        "hr": "geografskadužina geografskaduljina",
        "hu": "hosszúságifok földrajzihosszúság",
        "id": "bujur",
        "it ro": "longitudine",
        "ja": "経度",
        "ko": "경도",
        "lt": "ilguma",
        "lv": "garumagrādi ģeogrāfiskaisgarums",
        "nl": "lengtegraad",
        "no": "lengdegrad",
        "pl": "długośćgeograficzna dłgeogr",
        "ru": "долгота",
        "sk": "zemepisnádĺžka",
        "sl": "geografskadolžina",
        "sv": "longitud längdgrad",
        "tr": "boylam",
        "uk": "довгота",
        "zh": "经度 經度",
    },
    "easting": {  # each beside the word of its place in "northing"
        "": "x pointx xcoord coordx utme utmx",
        "de": "rechtswert ostwert",
        "en": "easting east",
        "es": "este",
        "pt": "leste",
    },
    "northing": {
        "": "y pointy ycoord coordy utmn utmy",
        "de": "hochwert nordwert",
        "en": "northing north",
        "es": "norte",
        "pt": "norte",
    },
    "zone": {
        "": "zone utmzone epsg crs srid",
        "es": "zona zonautm huso",
        "it pt": "zona zonautm fuso",
    },
    "geometry": {
        "": "geometry geom thegeom wkt wkb geojson shape wktgeom wkbgeometry geometrywkt geomwkt"
        " stastext stasewkt stasgeojson geo",
        "de fr": "geometrie",
        "es it pt": "geometria",
    },
    "position": {  # of latitude and longitude in one column; a part of a heading
        "": "gps geo lat coord posit mgrs utm grid",
        "cs": "souřadn",
        "de": "koordinat punkt standort",
        "en": "locat point",
        "es": "coordenada punto ubicaci localización",
        "fr": "coordonné localisation",
        "it": "coordinat punto",
        "nl": "coördinat",
        "pl": "współrzędn",
        "pt": "coordenada localização",
        "ro": "coordonat",
        "ru uk": "координат",
    },
}

_LETTERS: Final = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae"})
_WORD: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NO_WORDS: Final = frozenset({"wgs84", "dd", "deg", "decimal", "degrees"})  # only mean degrees


def plain_heading(heading: str) -> str:
    """The letters and digits of a heading, in lower case and without accents."""
    decomposed = unicodedata.normalize("NFKD", heading).casefold().translate(_LETTERS)
    return "".join(filter(str.isalnum, decomposed))


def heading_words(heading: str) -> tuple[str, ...]:
    """The plain words of a heading, except those that only mean degrees."""
    composed = unicodedata.normalize("NFC", _HUMP.sub(" ", heading))
    words = tuple(map(plain_heading, _WORD.findall(composed)))
    return tuple(word for word in words if word not in _NO_WORDS) or words


@cache
def usual_headings(meaning: str) -> tuple[str, ...]:
    """The plain headings of a meaning in all languages, the likeliest first."""
    texts = HEADINGS.get(meaning, {}).values()
    return tuple(dict.fromkeys(plain_heading(word) for text in texts for word in text.split()))


def languages_of(headings: Iterable[str]) -> frozenset[str]:
    """The languages that most of the headings speak, as ISO 639-1 codes; none if they tell none."""
    counts = Counter(language for each in headings for language in _languages_of(each))
    most = max(counts.values(), default=0)
    return frozenset(language for language, number in counts.items() if number == most)


def _languages_of(heading: str) -> frozenset[str]:
    words = heading_words(heading)
    tails = {"".join(words[start:]) for start in range(len(words))}
    known = _languages()
    places = (word for word in usual_headings("position") if word in "".join(words))
    return frozenset().union(*(known.get(word, ()) for word in (*tails, *words, *places)))


@cache
def _languages() -> Mapping[str, set[str]]:
    """The languages of each plain heading."""
    known: dict[str, set[str]] = {}
    for languages in HEADINGS.values():
        for codes, text in languages.items():
            for word in map(plain_heading, text.split()):
                known.setdefault(word, set()).update(codes.split())
    return known
