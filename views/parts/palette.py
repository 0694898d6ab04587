"""Colours of the whole application: one colour, one meaning, on every page."""

# What a GPU or its NIC is busy with (kinds of tasks and flows). Arithmetic is blue to violet, messages are anything else, dark is
# what is rare. Chosen so that kinds which meet in one chart stay apart for people who see no red, or no green (tests/figures/test_palette.py).
KINDS = {
    "forward": "#a5dcf5",
    "backward": "#2076c5",
    "weight": "#1e2a4e",
    "recompute": "#ada5ef",
    "compute": "#5b8ee5",
    "program": "#2d47d0",
    "optimizer": "#817e7a",
    "TP": "#eebc24",
    "in switch": "#713e09",
    "CP": "#f47aae",
    "EP": "#e9511c",
    "PP": "#5b2a8c",
    "DP": "#20975d",
    "embedding": "#0f4f52",
    "traffic": "#1c6fa0",
    "collective": "#14b8b7",
    "background": "#443221",
    "bubble": "#d3d7dc",
    "idle": "#f1eee9",
}
OTHER_KIND = "#b5a89a"

# What fills a GPU's memory.
MEMORY = {
    "weights": "#475569",
    "gradients": "#a3b1c6",
    "optimizer": KINDS["optimizer"],
    "activations": "#d9694f",
    "working": "#f2cc8f",
}
CAPACITY = "#111827"

# How a packet-hop came about: the darker, the more work it was.
HOW = {"simulated": "#365314", "replayed": "#8fa647", "skipped": "#dbe4b0"}

# Ways to simulate, where they are compared.
MODES = {"packet": "#3b3b44", "wormhole": "#115e59", "flow": "#ea580c"}

LEVELS = {"exact": MODES["wormhole"], "bounded": "#5ba8a0", "paper": "#b4d8d3"}  # of wormhole mode

# What happens at a port.
QUEUE = "#0f766e"
QUEUE_FILL = "rgba(15, 118, 110, 0.18)"
UTILISATION = "#b45309"
UTILISATION_FILL = "rgba(180, 83, 9, 0.14)"
MARKS = "#a21caf"
PAUSED = "#be123c"
BACKGROUND_FILL = "rgba(68, 50, 33, 0.25)"
ACTIVE_FLOWS = "#3f5873"
THRESHOLD = "#6b7280"

# How hot a link is, idle to full: lightness falls all the way, so it reads without colour too.
HEAT = ("#cbd5e1", "#fde68a", "#fbbf24", "#f97316", "#dc2626", "#7f1d1d")
BROKEN = "#0b0f1a"

# Node tiers of the drawing: Network.node_tier.
TIERS = {-1: "#76b900", 0: "#334155", 1: "#0ea5e9", 2: "#6366f1", 3: "#a855f7"}
LINK = "#94a3b8"
NVLINK = "#bef264"

# How far a prediction is from what was published.
ERRORS = {"near": "#334155", "far": "#c2410c"}
BAND = "rgba(51, 65, 85, 0.09)"

# Many things of one sort, told apart from first to last.
SEQUENCE = ("#41265f", "#3b528b", "#21918c", "#4fae4a", "#d99a0b")
QUEUES = ("#0b3b37", QUEUE, "#7cc9bf")
REST_FILL = "rgba(63, 88, 115, 0.16)"

CRITICAL = "#111111"
SELECTED = "#67e8f9"  # a halo around what the user picked
GRID = "#e5e7eb"
TEXT = "#1f2937"
MUTED = "#6b7280"


def kind_colour(kind: str) -> str:
    return KINDS.get(kind, OTHER_KIND)


def heat_scale() -> list[list]:
    """The heat colours as a plotly colour scale over 0..1."""
    last = len(HEAT) - 1
    return [[step / last, colour] for step, colour in enumerate(HEAT)]


def heat(share: float) -> str:
    """Colour of a utilisation between 0 and 1, as `rgb(r, g, b)`."""
    return mixed(HEAT, share)


def mixed(colours: tuple[str, ...], share: float) -> str:
    """The colour at a share between 0 and 1 of the way along some colours, as `rgb(r, g, b)`."""
    position = min(max(share, 0.0), 1.0) * (len(colours) - 1)
    low = min(int(position), len(colours) - 2)
    mix = position - low
    channels = [(1 - mix) * int(colours[low][i : i + 2], 16) + mix * int(colours[low + 1][i : i + 2], 16) for i in (1, 3, 5)]
    return f"rgb({', '.join(str(round(channel)) for channel in channels)})"
