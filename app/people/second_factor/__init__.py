"""Second factors: authenticator apps, passkeys and recovery codes."""
