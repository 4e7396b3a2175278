"""People: how they sign up, sign in, and look after what is theirs."""
