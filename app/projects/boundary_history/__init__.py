"""The boundaries that projects have had: an entry for each, written with the change."""
