"""No congestion control: every flow sends at line rate; only PFC and the window hold it back."""

NAME = "none"
NUMBER = 0
MARKING = (float("inf"), float("inf"), 0.0)  # kmin kB, kmax kB, pmax at 100 Gb/s; HPCC simulator's runner
DATA_TELEMETRY_BYTES = 0
ACK_TELEMETRY_BYTES = 0
HAS_WINDOW = False
VAR_WINDOW = False
PARAMETERS = ()
COLUMNS = ()
