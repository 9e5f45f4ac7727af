"""What the searching agents share: playouts, evaluation, network and tree, all compiled."""
