"""Tools that read the web: over `lockgate.web`, as text, marked as data from outside."""
