"""The compiled parts that the searching agents share: playouts, evaluation, network inference and the tree."""
