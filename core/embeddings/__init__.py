"""Private graph embeddings: homomorphism densities of public patterns, noised at the edge level."""
