"""A child in a process group of its own: found, started, listened to, and ended for certain.

`program` says what to start and finds it, `environment` what it sees, `child` runs and ends it,
`group`, `mark` and `watch` are its parts of the operating system, `tail` keeps its last words.
"""
