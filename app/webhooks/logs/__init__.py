"""The log of a webhook: each attempt, and sending again what one of them was about."""
