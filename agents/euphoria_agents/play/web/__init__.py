"""The server of `euphoria serve`: games and studies in the browser.

It sends views, never games: what a seat gets is a function of what that seat may know (R19).
"""
