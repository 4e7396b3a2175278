"""The guides at /docs/guides, which ``bin/_guides.py`` makes from ``docs``, and /llms.txt."""
