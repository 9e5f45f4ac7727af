"""The server of `euphoria serve`: games and studies in the browser.

During a game it sends only views: what the client of a seat gets depends only on what that seat may know (R19).
"""
