"""Attempts to falsify the guarantee."""
