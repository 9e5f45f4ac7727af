def board_svg(game, seat=None): return ""
