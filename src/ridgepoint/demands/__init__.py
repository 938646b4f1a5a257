"""Demands of standard problems on a machine: training steps, case studies, imaging stages."""
