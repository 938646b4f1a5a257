"""Micro-benchmarks as specifications and LLVM IR text: pure."""
