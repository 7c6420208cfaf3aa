"""The release desk: what is paid from a budget, drawn once, and handed to the analyst."""
