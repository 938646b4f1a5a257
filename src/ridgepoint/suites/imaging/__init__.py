"""A continuum imaging pipeline to measure: real, and small enough to know all of it.

A seeded sky (`sky`) is seen by a model array on the rotating earth (`telescope`), gridded and
transformed by ducc0 (`gridder`), deconvolved by `clean` or `msmfs` and restored (`restore`), in
the major cycles of the SKA's reference library (`continuum`). `stages` takes it apart to be
measured.
"""
