"""The command line: one module for each command, each with `add` (its options) and `execute` (its work)."""
