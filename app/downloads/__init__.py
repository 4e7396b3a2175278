"""Files as responses: how many at once, for whom, and how they are streamed."""
