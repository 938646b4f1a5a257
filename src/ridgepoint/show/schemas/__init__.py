"""JSON Schemas of all documents: generated from the types of values and the shapes of reports.

The files in ``data/schemas`` are written by ``python tests/tools/schemas.py --renew``; commands
read those, since generating them imports every type.
"""
