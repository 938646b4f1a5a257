"""Programs that run on several nodes, whose results are checked: real ones, for measuring."""
