"""Results as tables of raw values, one module for each subject: docs/tables.md says what they hold.

Each function returns every table of its subject, the one that most readers want first.
"""
