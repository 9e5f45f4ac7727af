"""Matches: games from every seat (`arena`), tournaments that resume, and their work shared out over processes or a cluster."""
