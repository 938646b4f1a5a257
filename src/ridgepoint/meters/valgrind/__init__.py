"""What every meter that runs programs under Valgrind needs: its start, its log, its limits."""
