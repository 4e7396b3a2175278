"""Projects: forest areas, their boundaries and their area.

``service`` changes projects. ``reading`` reads one, ``listing`` and ``selection`` read some, and
``scanning`` all. ``record`` makes their fields from a row, ``derived`` the columns that follow from
these. ``publishing`` writes the event and the audit entry of a change.
"""
