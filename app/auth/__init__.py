"""Authentication, and authorization by ``app.policy.permissions``.

``login_throttle`` limits attempts to sign in. All other limits are in ``app.limits``.
"""
