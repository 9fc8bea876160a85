"""Tools for files. All of them use what their path was resolved to, and never look it up again."""
