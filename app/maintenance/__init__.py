"""Keeping an instance: backups, moving to another database, deleting what is old."""
