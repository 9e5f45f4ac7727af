"""The rules in numba: one structured row per game, one file per chapter of the rules.

Layers, inner to outer: `state` (the row), `chance` (the generator and loaded outcomes), the small parts of a turn (`markers`,
`artifacts`, `rolls`, `stars`, `allegiance`, `costs`, `abilities`), the chapters built of them (`placement`, `construction`,
`retrieval`, `dilemma`, `trade`, `setup`, `end`, `turn`), `legal_moves` (which moves are legal, and what an answer does first) and
`loop` (the loop that carries out operations, and the entry points that Python calls).
"""
