"""OAuth 2.0 server: applications that act on behalf of people."""
