"""Entries of the audit log, written in the transaction of what they tell of."""
