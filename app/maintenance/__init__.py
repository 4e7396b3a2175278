"""Keeping an instance: backups, moving to another database, and finding out what is wrong."""
