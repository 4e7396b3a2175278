"""Deletion of accounts: scheduling it, the job that does it, and the mails about it."""
