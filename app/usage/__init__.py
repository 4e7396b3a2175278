"""The usage of accounts: hectares, projects, members, stored bytes and requests."""
