"""Files of other tools, read strictly: a fault is one line with file, line, value, rule and the nearest legal thing."""
