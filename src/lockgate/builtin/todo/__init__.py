"""The list of steps that an agent works through."""
