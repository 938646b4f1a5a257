"""What functions of NumPy and of the array API standard ask for, by shapes and types."""
