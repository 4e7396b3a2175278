"""How much one question to the chat may ask of the model, and the model of the service."""

from __future__ import annotations

from typing import Final

MESSAGE_LENGTH: Final = 4_000  # characters of a question
REPLY_LENGTH: Final = 16_000  # characters of a reply; a longer one is cut
HISTORY_LENGTH: Final = 20  # earlier messages that a question may bring with it

SECONDS: Final = 60.0  # wall clock from the question to the reply, whatever the model's server does
CONNECT_SECONDS: Final = 5.0  # of those, until a connection to the model's server stands
ROUNDS: Final = 6  # times that the model may call tools, before it has to reply
CALLS: Final = 16  # calls of tools that are answered in one round
ANSWER_BYTES: Final = 1024 * 1024  # of one answer of the model's server

ARGUMENTS_LENGTH: Final = 4_000  # characters of the arguments of one call
# Of one result. An asset's metadata alone may have 16 KB, and always fits.
RESULT_BYTES: Final = 20 * 1024
PER_PAGE: Final = 20  # records of one list
EXCERPT_LENGTH: Final = 300  # characters of a description in a list
METADATA_BYTES: Final = 500  # of an asset's metadata in a list

# Seconds after which a client may ask again.
RETRY_FAILED: Final = 10
RETRY_BUSY: Final = 5
RETRY_NOT_SET: Final = 3_600
