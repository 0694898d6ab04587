"""Level `paper`: the published method (Long et al., NSDI 2026), conflict graphs with rates as keys and a range test for steadiness."""
