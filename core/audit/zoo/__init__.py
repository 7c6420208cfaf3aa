"""Mechanisms whose true ε is known, correct and broken: what the auditor itself is held against."""
