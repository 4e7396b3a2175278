"""Files as responses: streaming them, with limits, while their caller has access."""
