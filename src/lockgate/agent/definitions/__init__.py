"""Definitions that people write in Markdown: sub-agents and skills."""
