"""Files that were made to do harm; the trial `hostile-files` sends them to a service."""
