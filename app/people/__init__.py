"""People: sign-up, passwords, mailed links, second factors, single sign-on and deletion."""
