"""How often a client may ask: the plan's limits on /v1, the tiers of the web application.

A request comes through these modules in this order:

* ``library``: Flask-Limiter, cut down to one check before each request;
* ``limiter``: which limit holds for this request, and what a refusal says;
* ``plan_file``: the numbers of the account's plan;
* ``storage``: the script in Valkey that decides, and counts the request when it may pass;
* ``windows``: the result, and the headers that show it.

``counting`` has the limits of forms, of the OAuth server and of the chat, which a view asks for.

``request_counts`` is the usage of an account, which the same script counts.

``deprecated`` has responses say that something deprecated was used, and counts that.
"""
