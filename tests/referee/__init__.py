"""The referee: a second, independent implementation of the rules (`docs/rules.md`), plain and slow. See README.md."""

from .game import Referee

__all__ = ["Referee"]
