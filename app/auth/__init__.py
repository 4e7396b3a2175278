"""Who is asking, how they prove it, and whether they may, by ``app.policy.permissions``.

``login_throttle`` limits attempts to sign in. All other limits are in ``app.limits``.
"""
