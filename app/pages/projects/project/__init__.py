"""The page of one project: its boundary, its history, its assets, and what can be done with it."""
