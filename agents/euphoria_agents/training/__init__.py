"""Training: the run and its league, the network as PyTorch trains it, and an adapter for Stable-Baselines3."""
