"""The shares and factors on which verdicts, cautions and advice turn, each with its reason.

A reader who asks why a sentence is given in one case and not in another finds the number here.
Numbers that only one function needs, because of how it works, are beside it.
"""

# --- a program and its roofs ----------------------------------------------------------------------

ABOVE_ROOF = 1.02
"""A point this far above its roof is beyond the noise of both medians: a count or a ceiling is
off."""

ABOVE_MIX = 1.05
"""A program this far above the roof of its own mix, which is made of several ceilings with noise of
their own, needs an explanation."""

SAME = 1.02
"""Two bounds closer than this factor are the same up to noise."""

NEAR_ROOF = 0.9
"""A stage that reaches this share of its roof cannot climb: what is left is noise."""

NEAR = 0.5
"""A limit that takes this share of the time or more is what holds a program back: nothing else can
take more."""

EXPLAINS = 0.3
"""A limit that takes less of the time than this, even at its full rate, is not what is short."""

FAR_BELOW = 0.1
"""Below this share of every roof none of the roofs explains the runtime: one that allows ten times
the speed is not what holds a program back."""

FAR_BELOW_MEMORY = 0.05
"""A stage below this share of its roof may be bound by caches, which have no roof in its model."""

LEAST_CHANGE = 0.05
"""Of the efficiency, or of the roof: a verdict is another one if it changes by as much."""

# --- time and cores -------------------------------------------------------------------------------

SNAP_CORES = 0.05
"""CPU time over wall time of a program with one busy thread is 0.98 to 1.02: within this distance
of a whole number it is that number."""

WAITS = 0.5
"""Half a core and less busy: what the program waits for takes the time, and no roof bounds that."""

POOR_TIME = 0.25
"""A runtime that may be off by as much is itself no result, whatever the verdict is."""

CERTAIN = 0.20
"""A function has a point if the 95 % interval of its time is within this of its median.

On axes of decades that is 0.08 of one, about the size of a point: an error that a reader would not
see. It takes about a hundred samples.
"""

# --- parts of a program ---------------------------------------------------------------------------

LEAST_PART = 0.1
"""A part that takes less of the time is not worth advice of its own, and is not the main part."""

SAID_OUTSIDE = 0.1
"""Time in the kernel and time spent waiting are worth a sentence from this share on."""

NAMED = 0.05
"""What takes less of the time is not named among what explains it."""

MOST_OF_IT = 0.5
"""A function, or a line, with less of something is not where it happens."""

COMPUTES = 0.1
"""A loop that computes does one floating-point instruction in ten: a sum does one in six (load,
product, addition, three to go on). Below, other instructions take the time."""

USED = 0.01
"""Start-up code does a few flop of every kind; below this share of the work a precision, or a kind
of instruction, is unused."""

# --- gains ----------------------------------------------------------------------------------------

LEAST_GAIN = 1.2
"""What gains less is within reach of noise and of the roofs' own doubts: not worth a change."""

LEAST_PIPELINE_GAIN = 1.02
"""What gains a whole pipeline less is not worth a change of one stage."""
