"""Mails, which are queued in the transaction of the change that they report, and sent by a job."""
