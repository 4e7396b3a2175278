"""Single sign-on: people sign in at an OpenID Connect provider, and are linked to a person here."""
