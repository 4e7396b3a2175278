"""Projects: forest areas, their boundaries and their area.

``service`` changes projects, with the event and the audit entry of each change. ``lookup`` reads
one, ``listing`` pages or all. ``record`` makes records from rows, ``derived`` columns from fields.
"""
