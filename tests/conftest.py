"""What tests need of the process that runs them."""

import signal

# A shell lets what it starts in the background ignore ^C, and all that tests start would, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
