"""A new field of projects, and one of assets, added to a copy of the repository."""
