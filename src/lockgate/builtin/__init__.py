"""The tools that come with lockgate: `catalogue` makes them by name."""
