"""The players: what each looks at and how it chooses; those that search share `search`."""
