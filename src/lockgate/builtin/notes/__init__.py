"""Notes of a project: lines that are added to one file, and read back."""
