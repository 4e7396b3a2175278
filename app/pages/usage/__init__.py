"""The page of an account's usage: limits of its plan, and who makes its requests.

``meters`` compares the usage with the plan, ``period`` says which days and whose requests the page
shows.
"""
