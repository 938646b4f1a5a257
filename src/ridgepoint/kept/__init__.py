"""What is kept in files: the archive, and the files that users write."""
