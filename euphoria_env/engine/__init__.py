"""The rules in numba: one structured row per game; the files name the paragraphs that they implement.

Layers, inner to outer: `state` (the row), `chance` (the generator and loaded outcomes), the small parts of a turn (`markers`,
`artifacts`, `rolls`, `stars`, `allegiance`, `costs`, `abilities`), the chapters built of them (`placement`, `construction`,
`retrieval`, `dilemma`, `trade`, `setup`, `end`, `turn`), `legal_moves` (finds the legal moves and takes the answer) and
`loop` (the loop that carries out operations, and the entry points that Python calls).
"""
