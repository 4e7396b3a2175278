"""Files that were made to do harm, sent to a running service."""
