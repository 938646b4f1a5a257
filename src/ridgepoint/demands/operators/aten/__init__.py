"""What operators of PyTorch ask for at least, family by family."""
