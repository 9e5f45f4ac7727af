"""What `euphoria speed` measures with: the layers, the clock, and the comparison of two runs."""
