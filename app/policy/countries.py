"""The codes of countries (ISO 3166-1), and the rules for the country of a project."""

from __future__ import annotations

from typing import Final

DATA_VERSION: Final = 1
"""The version of the data and the rules that a project's country is derived from."""

NEAREST_KM: Final = 25
"""A boundary in no country belongs to the nearest one within this distance: coasts are coarse in
Natural Earth, and small islands are missing. Farther from any land, it is in the sea."""

INSIDE_KM: Final = 10
"""The distance from the main country of a boundary up to which parts in another country are
ignored: borders are that coarse."""

UNEXPECTED_KM: Final = 1_000
"""The distance from all projects of an account beyond which the editor asks whether a new boundary
is in the right place."""

_NUMBERS: Final = """
004AF 008AL 010AQ 012DZ 016AS 020AD 024AO 028AG 031AZ 032AR 036AU 040AT 044BS 048BH 050BD 051AM
052BB 056BE 060BM 064BT 068BO 070BA 072BW 074BV 076BR 084BZ 086IO 090SB 092VG 096BN 100BG 104MM
108BI 112BY 116KH 120CM 124CA 132CV 136KY 140CF 144LK 148TD 152CL 156CN 158TW 162CX 166CC 170CO
174KM 175YT 178CG 180CD 184CK 188CR 191HR 192CU 196CY 203CZ 204BJ 208DK 212DM 214DO 218EC 222SV
226GQ 231ET 232ER 233EE 234FO 238FK 239GS 242FJ 246FI 248AX 250FR 254GF 258PF 260TF 262DJ 266GA
268GE 270GM 275PS 276DE 288GH 292GI 296KI 300GR 304GL 308GD 312GP 316GU 320GT 324GN 328GY 332HT
334HM 336VA 340HN 344HK 348HU 352IS 356IN 360ID 364IR 368IQ 372IE 376IL 380IT 384CI 388JM 392JP
398KZ 400JO 404KE 408KP 410KR 414KW 417KG 418LA 422LB 426LS 428LV 430LR 434LY 438LI 440LT 442LU
446MO 450MG 454MW 458MY 462MV 466ML 470MT 474MQ 478MR 480MU 484MX 492MC 496MN 498MD 499ME 500MS
504MA 508MZ 512OM 516NA 520NR 524NP 528NL 531CW 533AW 534SX 535BQ 540NC 548VU 554NZ 558NI 562NE
566NG 570NU 574NF 578NO 580MP 581UM 583FM 584MH 585PW 586PK 591PA 598PG 600PY 604PE 608PH 612PN
616PL 620PT 624GW 626TL 630PR 634QA 638RE 642RO 643RU 646RW 652BL 654SH 659KN 660AI 662LC 663MF
666PM 670VC 674SM 678ST 682SA 686SN 688RS 690SC 694SL 702SG 703SK 704VN 705SI 706SO 710ZA 716ZW
724ES 728SS 729SD 732EH 740SR 744SJ 748SZ 752SE 756CH 760SY 762TJ 764TH 768TG 772TK 776TO 780TT
784AE 788TN 792TR 795TM 796TC 798TV 800UG 804UA 807MK 818EG 826GB 831GG 832JE 833IM 834TZ 840US
850VI 854BF 858UY 860UZ 862VE 876WF 882WS 887YE 894ZM
"""

CODES_BY_NUMBER: Final = {entry[:3]: entry[3:] for entry in _NUMBERS.split()}
"""The alpha-2 codes of ISO 3166-1 by the numeric ones."""

CODES_BY_NAME: Final = {
    "Kosovo": "XK",
    "N. Cyprus": "CY",
    "Somaliland": "SO",
    "Indian Ocean Ter.": "AU",
}
"""The codes of what has no numeric one in Natural Earth. ISO 3166 leaves XK to its users, who mean
Kosovo by it, and has the others in these countries."""

COUNTRY_CODES: Final = frozenset((*CODES_BY_NUMBER.values(), *CODES_BY_NAME.values()))

MISTAKEN_CODES: Final = {"UK": ("GB", "the United Kingdom"), "EL": ("GR", "Greece")}
"""Common codes that are not in ISO 3166-1, each with the right code and the country."""

NAMES: Final = {
    "AG": "Antigua and Barbuda", "BA": "Bosnia and Herzegovina", "BL": "Saint Barthélemy",
    "BQ": "Bonaire, Sint Eustatius and Saba", "BV": "Bouvet Island", "CC": "Cocos Islands",
    "CD": "DR Congo", "CF": "Central African Republic", "CG": "Republic of the Congo",
    "CK": "Cook Islands", "CX": "Christmas Island", "CY": "Cyprus",
    "DO": "Dominican Republic", "EH": "Western Sahara", "FK": "Falkland Islands",
    "FO": "Faroe Islands", "GF": "French Guiana", "GI": "Gibraltar", "GP": "Guadeloupe",
    "GQ": "Equatorial Guinea", "GS": "South Georgia",
    "HM": "Heard and McDonald Islands", "IO": "British Indian Ocean Territory",
    "KN": "Saint Kitts and Nevis", "KY": "Cayman Islands", "MF": "Saint Martin",
    "MH": "Marshall Islands", "MK": "North Macedonia", "MQ": "Martinique",
    "MP": "Northern Mariana Islands", "PF": "French Polynesia",
    "PM": "Saint Pierre and Miquelon", "PN": "Pitcairn Islands", "RE": "Réunion",
    "SB": "Solomon Islands", "SJ": "Svalbard and Jan Mayen", "SS": "South Sudan",
    "ST": "São Tomé and Príncipe", "SZ": "Eswatini", "TK": "Tokelau", "TV": "Tuvalu",
    "TC": "Turks and Caicos Islands", "TF": "French Southern Territories",
    "UM": "US Minor Outlying Islands",
    "VC": "Saint Vincent and the Grenadines", "VG": "British Virgin Islands",
    "VI": "US Virgin Islands", "WF": "Wallis and Futuna", "YT": "Mayotte",
}  # fmt: skip
"""Names of countries that Natural Earth has shortened, or does not have, by code."""

WITH_ARTICLE: Final = frozenset((
    "AE", "BS", "CC", "CD", "CF", "CG", "CK", "DO", "FK", "FO", "GB", "GM", "HM", "IM", "IO", "KM",
    "KY", "MH", "MP", "MV", "NL", "PH", "PN", "SB", "SC", "TC", "TF", "UM", "US", "VG", "VI",
))  # fmt: skip
"""Countries whose names have an article in a sentence: in the Netherlands."""

PARTS_ELSEWHERE: Final = {
    "BQ": "NL", "GF": "FR", "GP": "FR", "MQ": "FR", "RE": "FR", "SJ": "NO", "YT": "FR",
    "BV": "NO", "CC": "AU", "CX": "AU", "TK": "NZ",
}  # fmt: skip
"""What has a code of its own, and is part of another country in Natural Earth."""
