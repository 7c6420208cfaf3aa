"""Population work on several processes or machines."""
