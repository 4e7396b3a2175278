"""The account: its record, its usage and its plan."""
