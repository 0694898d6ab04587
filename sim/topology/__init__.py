"""Networks as arrays: one file per family of topologies, and the paths through them."""
