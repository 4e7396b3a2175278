"""How often a client may ask: the plan's limits on /v1, the tiers of the web application.

A request comes through these modules in this order:

* ``library``: Flask-Limiter, cut down to one count before each request;
* ``limiter``: which limit applies to this request, and the error;
* ``plan_file``: the numbers of the account's plan;
* ``storage``: the script in Valkey that decides, and counts the request when it may pass;
* ``windows``: the result, and the headers that show it.

``counting`` has the limits of forms, of the OAuth server and of the chat, which views check.

``request_counts`` has the usage of an account, which the same script counts.

``forgetting`` deletes what Valkey has counted of an account or a person.
"""
