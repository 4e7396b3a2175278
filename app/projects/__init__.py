"""Projects: forest areas, their boundaries and their area."""
