"""The lengths of the forms of pages, and of each field of a form or a query.

The lengths of fields are checked before anything looks at a text. They leave room beyond what a
form's own rules allow, as those say what is wrong beside the field.
"""

from __future__ import annotations

from typing import Final

from app.policy.deliveries import URL_LENGTH
from app.policy.files import COLUMN_NAME_LENGTH, CRS_LENGTH
from app.policy.oauth import PARAMETER_LENGTH, REDIRECT_URI_LENGTH, REDIRECT_URIS
from app.policy.request_limits import (
    ALLOWLIST_ENTRIES,
    DESCRIPTION_LENGTH,
    ID_LENGTH,
    LIST_IDS,
    METADATA_BYTES,
    NAME_LENGTH,
    SEARCH_LENGTH,
    SLUG_LENGTH,
    VOCABULARY_LENGTH,
)
from app.policy.second_factor import PASSKEY_RESPONSE_LENGTH, RECOVERY_CODE_LENGTH

FORM_BYTES: Final = 64 * 1024  # the form of a page
# The form of a project or an asset, without the boundary; it holds the metadata twice.
RECORD_FORM_BYTES: Final = 256 * 1024

PATH_LENGTH: Final = 8_190  # with the query: as long as gunicorn.conf.py lets a request line be
# Characters of a field, and of its name; OAuth promises as many to any parameter.
FIELD_LENGTH: Final = PARAMETER_LENGTH
FIELD_LENGTHS: Final = {
    "answer": 12 * COLUMN_NAME_LENGTH + FIELD_LENGTH,  # JSON, with up to 12 bytes a character
    "back": PATH_LENGTH,
    "code": PATH_LENGTH,  # from a provider of single sign-on
    "description": 2 * DESCRIPTION_LENGTH + FIELD_LENGTH,  # a line break is sent as two characters
    "epsg": CRS_LENGTH,
    "ids": LIST_IDS * (ID_LENGTH + 1),
    "ip_allowlist": ALLOWLIST_ENTRIES * 50 + FIELD_LENGTH,  # a network of IPv6 has up to 49
    "metadata_name": 2 * METADATA_BYTES,
    "metadata_value": 2 * METADATA_BYTES,
    "metadata_was": 2 * METADATA_BYTES,
    "next": PATH_LENGTH,
    "redirect_uris": REDIRECT_URIS * (REDIRECT_URI_LENGTH + 2) + FIELD_LENGTH,
    "response": PASSKEY_RESPONSE_LENGTH,
    "second_factor_passkey": PASSKEY_RESPONSE_LENGTH,
    "url": URL_LENGTH + FIELD_LENGTH,
}

# ``LENGTHS`` of the templates: the characters that a browser lets people type, by kind of input.
INPUT_LENGTHS: Final = {
    "name": NAME_LENGTH,
    "search": SEARCH_LENGTH,
    "slug": SLUG_LENGTH,
    "word": VOCABULARY_LENGTH,
    "number": 20,
    "degrees": 80,  # a latitude or a longitude, or both with all their signs
    "system": 100,  # the code or the name of a coordinate system or a country
    "code": 16,  # six digits, with spaces
    "recovery_code": 4 * RECOVERY_CODE_LENGTH,  # with spaces or dashes
}
