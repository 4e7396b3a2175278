"""The page of one webhook: its health, its attempts, and each of them."""
