"""The server of `euphoria serve`: games and studies in the browser.

It sends views, never games: what a seat gets depends only on what that seat may know (R19).
"""
