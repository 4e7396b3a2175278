"""Importing the archive of an account (``app.exports.account_export``) into another one."""
