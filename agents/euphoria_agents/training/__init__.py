"""Training: the run with its actors, learner and league, and the network as PyTorch trains it."""
