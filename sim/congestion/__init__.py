"""Congestion controls: one file each, dispatched by number in the compiled kernel."""
