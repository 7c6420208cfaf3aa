"""Readers of owners' files: messy text and binary graphs in, checked data sets out."""
