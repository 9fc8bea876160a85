"""Every provider of models, through pydantic-ai's model layer: docs/decisions/0043.

The one package that imports it, and imported by none but who makes a model of a provider.
"""
