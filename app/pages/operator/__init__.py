"""The pages of operators, the people who run the instance: its contents, its health, and settings
for all accounts.

Operators have no access to what is in accounts. They see names, plans, numbers and dates.
"""
