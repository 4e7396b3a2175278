"""The pages of operators, who run the instance: what is on it, how it works, and what they set.

Being an operator gives no access to what accounts have. These pages show names, plans, numbers and
dates.
"""
