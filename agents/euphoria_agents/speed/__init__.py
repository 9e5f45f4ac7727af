"""The parts of `euphoria speed`: the layers that are measured, and how a rate is measured."""
