"""Training: the run and its league, the network as PyTorch trains it, and adapters for Stable-Baselines3 and RLlib."""
