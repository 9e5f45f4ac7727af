"""The parts of `euphoria speed`: the layers, the clock, and the comparison of two runs."""
