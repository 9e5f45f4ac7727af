"""The built-in agents; `search` has what those that look ahead share."""
