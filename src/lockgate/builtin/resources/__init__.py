"""Tools over what MCP servers offer beside their tools: resources."""
