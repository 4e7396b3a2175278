"""Mails: queued with the change that they tell of, sent by a job."""
