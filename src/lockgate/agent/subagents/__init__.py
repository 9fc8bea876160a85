"""Sub-agents: defined in Markdown or by a program, started by a tool."""
