"""What an agent keeps for later runs: documents under ids, found by their words."""
