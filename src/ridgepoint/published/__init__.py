"""Documents that we ship: machines, tables of papers, peaks by microarchitecture, loads."""
