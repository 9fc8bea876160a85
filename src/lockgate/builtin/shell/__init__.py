"""The tool that runs command lines: what is started, where, and what is told of it."""
