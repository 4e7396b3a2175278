"""Rate limits: the plan's limits on /v1, the tiers of the web application.

A request passes these modules in this order:

* ``library``: Flask-Limiter, reduced to one count before each request;
* ``limiter``: the limit of the request, and the error;
* ``plan_file``: the numbers of the account's plan;
* ``storage``: the script in Valkey that decides, and counts the request if it may pass;
* ``windows``: the result, and its headers.

``counting`` has the limits of forms, of the OAuth server and of the chat, which views check.
``request_counts`` has the usage of an account, which the same script counts. ``forgetting`` deletes
the counts of an account or a person from Valkey.
"""
