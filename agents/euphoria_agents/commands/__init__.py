"""What the command `euphoria` does, a module for each subcommand."""
