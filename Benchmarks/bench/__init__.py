"""Measures the service beside what else could verify tokens. Run by `scripts/bench`."""
