"""Demands of standard problems on a machine: training steps, transformers, imaging stages."""
