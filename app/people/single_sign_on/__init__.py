"""Single sign-on: people sign in at an OpenID Connect provider, whose identities are linked."""
