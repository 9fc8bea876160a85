"""The OAuth flow of the `mcp` package, driven with a refusal at hand; its requests are ours.

The one place that imports that package, and late: it takes a second (docs/decisions/0036). Its
part: discovery, registration, PKCE, the requests for tokens by every grant, and their checks. Ours:
which addresses are asked, which authorization server may be used, what is kept and how long it is
good, when a person is asked, and what is said of it.
"""
