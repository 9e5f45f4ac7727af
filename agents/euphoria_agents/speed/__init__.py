"""The parts of `euphoria speed`: the layers whose speed is measured, and the measurement."""
