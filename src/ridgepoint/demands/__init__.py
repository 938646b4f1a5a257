"""What standard problems ask of a machine: training steps, case studies, imaging stages."""
