"""The second factor: authenticator apps, passkeys, recovery codes, and asking for them."""
