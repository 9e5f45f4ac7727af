"""Shared by the searching agents: playouts, evaluation, network and tree, all compiled."""
