"""Usage of an account: hectares, projects, members, requests."""
