"""OAuth for servers over HTTP: what the operator says, what is kept, who is asked to log in.

Decision: docs/decisions/0036. Only `flow` knows the `mcp` package, and is imported when it is used.
"""
