"""The most expensive requests that stay within the bounds: what each costs, and what the others
see of it."""
