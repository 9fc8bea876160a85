"""Composition: what is made of what, and who closes it."""
