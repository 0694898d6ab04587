"""Colours of the whole application: one colour, one meaning, on every page."""

# What a GPU or its NIC is busy with (kinds of tasks and flows).
KINDS = {
    "forward": "#60a5fa",
    "backward": "#2563eb",
    "optimizer": "#94a3b8",
    "TP": "#f59e0b",
    "PP": "#8b5cf6",
    "DP": "#10b981",
    "EP": "#ec4899",
    "CP": "#fb7185",
    "embedding": "#06b6d4",
    "traffic": "#0284c7",
    "collective": "#0d9488",
    "in switch": "#d97706",
    "compute": "#2563eb",
    "bubble": "#cbd5e1",
    "idle": "#e7e5e4",
}
OTHER_KIND = "#a8a29e"

# What fills a GPU's memory.
MEMORY = {
    "weights": "#475569",
    "gradients": "#94a3b8",
    "optimizer": "#c4a484",
    "activations": "#e07a5f",
}
CAPACITY = "#111827"

# How a packet-hop came about: the darker, the more work it was.
HOW = {"simulated": "#365314", "replayed": "#8fa647", "skipped": "#dbe4b0"}

# Ways to simulate, where they are compared.
MODES = {"packet": "#111827", "wormhole": "#115e59", "flow": "#ea580c"}

LEVELS = {"exact": "#115e59", "bounded": "#5ba8a0", "paper": "#b4d8d3"}  # of wormhole mode

# What happens at a port.
QUEUE = "#0f766e"
QUEUE_FILL = "rgba(15, 118, 110, 0.18)"
UTILISATION = "#b45309"
UTILISATION_FILL = "rgba(180, 83, 9, 0.14)"
MARKS = "#a21caf"
PAUSED = "#be123c"
ACTIVE_FLOWS = "#334155"
THRESHOLD = "#6b7280"

# How hot a link is, idle to full: lightness falls all the way, so it reads without colour too.
HEAT = ("#cbd5e1", "#fde68a", "#fbbf24", "#f97316", "#dc2626", "#7f1d1d")
BROKEN = "#111827"

# Node tiers of the drawing: Network.node_tier.
TIERS = {-1: "#76b900", 0: "#334155", 1: "#0ea5e9", 2: "#6366f1", 3: "#a855f7"}
LINK = "#94a3b8"
NVLINK = "#bef264"

# How far a prediction is from what was published.
ERRORS = {"near": "#334155", "far": "#c2410c"}
BAND = "rgba(51, 65, 85, 0.09)"

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
    position = min(max(share, 0.0), 1.0) * (len(HEAT) - 1)
    low = min(int(position), len(HEAT) - 2)
    mix = position - low
    channels = [(1 - mix) * int(HEAT[low][i : i + 2], 16) + mix * int(HEAT[low + 1][i : i + 2], 16) for i in (1, 3, 5)]
    return f"rgb({', '.join(str(round(channel)) for channel in channels)})"
