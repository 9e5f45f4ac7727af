"""Tasks with a fixed protocol, and how an agent is judged by them (docs/benchmark.md)."""
