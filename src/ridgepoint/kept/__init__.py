"""Results and settings in files: the archive, and the files that users write."""
