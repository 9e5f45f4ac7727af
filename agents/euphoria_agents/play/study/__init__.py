"""The study of a recorded game: an agent's opinion of every decision, the cost of mistakes, and luck."""
