"""The pages of operators, the people who run the instance: what is on it, how it is doing, and what
they set for all accounts.

Operators have no access to what is in accounts. They see names, plans, numbers and dates.
"""
