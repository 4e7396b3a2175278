"""Projects: forest areas, their boundaries and their area.

``service`` changes projects, with the event and the audit entry of each change. ``lookup`` reads
one, ``listing`` some or all. ``record`` makes their fields from a row, ``derived`` the columns that
follow from these.
"""
