"""The guides at /docs/guides, which ``docs/guides.py`` writes, and /llms.txt."""
