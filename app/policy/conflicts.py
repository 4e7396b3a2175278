"""Why a request is answered with 409: the ``code`` in its ``details``."""

from __future__ import annotations

from typing import Final

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
