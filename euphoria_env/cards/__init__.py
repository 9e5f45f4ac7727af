"""The cards as data: recruits (R13) and market tiles (R9 to R12)."""
