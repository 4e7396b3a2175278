"""The pages for people: a page at ``/x`` is in the package ``x``.

Views call the same code as the API, with the permissions of the person's role. What scripts read
and send goes through these pages too, with the session's cookie and the form's token. What several
pages share is here at the top; what all of them share is ``app.site``.
"""
