"""The benchmark: tasks with a fixed protocol, and the judging of an agent by them (docs/benchmark.md)."""
