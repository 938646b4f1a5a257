"""What is here is run as programs: nothing of it is a test, nor to be imported."""

collect_ignore_glob = ["*"]
