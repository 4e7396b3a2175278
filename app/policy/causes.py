"""Why a request is refused: the ``code`` in its ``details``."""

from __future__ import annotations

from typing import Final

# With 400 and 422, beside the codes of geometries and of files for the EUDR.
INVALID: Final = {
    "required": "Missing.",
    "unknown": "There is no such field or parameter.",
    "null": "Must not be null.",
    "wrong_type": "Another type than that of the field.",
    "wrong_format": "Written in another way than a date, an address, an id or the like is.",
    "too_short": "Fewer characters or elements than needed.",
    "too_long": "More characters than allowed.",
    "too_small": "Below the smallest number, or the earliest time.",
    "too_large": "Above the largest number, or more bytes than allowed.",
    "too_many": "More elements, keys, levels or records than allowed.",
    "not_one_of": "None of the words that are allowed.",
    "not_unique": "Given more than once in one request.",
    "not_found": "Names something that does not exist.",
    "read_only": "Cannot be set or changed here.",
    "invalid": "Anything else, which the message says.",
}

FORBIDDEN: Final = {
    "missing_permission": "The key or token lacks the permission, or may never have it.",
    "missing_scope": "The OAuth token lacks the scope.",
    "role": "The role of the person in the account, or on the instance, does not allow it.",
    "limited_to_projects": "The credential is limited to some projects.",
    "plan_limit": "A limit of the plan or of the account is reached.",
    "storage": "The account's storage is full.",
    "history": "The account's history is full.",
    "second_factor": "The account requires a second factor, or a fresh proof of it.",
    "sign_up_closed": "The person has not signed up, and sign-up is closed.",
    "email_unconfirmed": "The person has not confirmed their email address.",
    "other_site": "A browser sent it from another site, or from a form that is too old.",
}

CONFLICTS: Final = {
    "slug_taken": "Another project has this name, or one with the same slug.",
    "external_id_taken": "Another project, or asset of the project, has this external id.",
    "archived": "The project is archived already.",
    "not_archived": "The project is not archived.",
    "boundary_not_kept": "The shape of the former boundary was not kept.",
    "already_member": "The person is a member already.",
    "not_joined": "The person has not accepted the invitation.",
    "last_owner": "The account would have no owner.",
    "limit_reached": "The maximum number is reached.",
    "disabled": "The webhook is disabled.",
    "outbound_off": "The instance sends nothing out.",
    "event_deleted": "The event is no longer kept.",
    "still_running": "The first request with this key, or an earlier replay, is still running.",
    "response_lost": "The response to the first request with this key cannot be shown again.",
    "wrong_status": "The import has another status.",
    "crs_unknown": "The coordinate system of the file is unknown.",
    "unanswered": "A question about the file must be answered first; its code is the field.",
    "file_deleted": "The file of the import was deleted.",
    "too_costly": "Reading the file, or this layer of it, took too much time or memory.",
    "features_written": "The import has written features.",
    "nothing_written": "The import has written no features.",
    "account_being_deleted": "The deletion of the account has begun.",
    "deletion_scheduled": "The deletion of the account is scheduled already.",
    "deletion_not_scheduled": "The deletion of the account is not scheduled.",
    "email_taken": "Another person has a similar email address.",
    "signed_up": "The person has signed up already.",
    "public_application": "A public application has no secret.",
    "no_second_factor": "The person has no second factor.",
    "changed_meanwhile": "Somebody else has just changed it.",
}

# By the statuses that have them.
CAUSES: Final = {"400, 422": INVALID, "403": FORBIDDEN, "409": CONFLICTS}
