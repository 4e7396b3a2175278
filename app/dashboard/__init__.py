"""The pages with which signed-in people work on the account's forests: a package for each part.

Views call the same services as the API, with the permissions of the person's role. What scripts
read and send goes through these pages too, with the session's cookie and the form's token.
"""
