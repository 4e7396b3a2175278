"""People: signing up, passwords, mailed links, the second factor and single sign-on."""
