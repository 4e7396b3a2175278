"""How often a client may ask: the plan's limits on /v1, the tiers of the web application."""
