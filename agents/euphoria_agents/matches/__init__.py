"""Matches from every seat (`match`), tournaments that can be resumed, and running their work in processes or on a cluster."""
