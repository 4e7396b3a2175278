"""Mails: queued in the transaction of the change that they report, sent by a job."""
