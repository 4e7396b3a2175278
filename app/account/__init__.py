"""The account itself: its record, its usage, and the check of a credential."""
