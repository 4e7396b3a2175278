"""The OAuth 2.0 server, for applications that act on behalf of people."""
