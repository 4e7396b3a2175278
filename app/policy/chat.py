"""Limits of one chat request: of the question, the model's response, and its tool calls."""

from __future__ import annotations

from typing import Final

MESSAGE_LENGTH: Final = 4_000  # characters of a question
REPLY_LENGTH: Final = 16_000  # characters of a reply; a longer one is cut
HISTORY_LENGTH: Final = 20  # earlier messages sent with a question

SECONDS: Final = 60.0  # from the question to the reply
CONNECT_SECONDS: Final = 5.0  # for the connection to the model's server, within SECONDS
ROUNDS: Final = 6  # times that the model may call tools before it has to reply
CALLS: Final = 16  # tool calls that are run in one round
ANSWER_BYTES: Final = 1024 * 1024  # one response of the model's server

ARGUMENTS_LENGTH: Final = 4_000  # characters of the arguments of one call
RESULT_BYTES: Final = 20 * 1024  # one result; metadata of up to 16 KB always fits
PER_PAGE: Final = 20  # records in one list
EXCERPT_LENGTH: Final = 300  # characters of a description in a list
METADATA_BYTES: Final = 500  # metadata of an asset in a list

# Seconds after which a client may ask again.
RETRY_FAILED: Final = 10
RETRY_BUSY: Final = 5
RETRY_NOT_SET: Final = 3_600
