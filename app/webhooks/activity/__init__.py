"""How a webhook has been doing: its health since when, and its attempts hour by hour."""
