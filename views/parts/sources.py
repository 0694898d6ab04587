"""Where the numbers of the catalogue come from, a line each for the form."""

from sim.catalogue.gpus import GPUS
from sim.catalogue.models import MODELS
from sim.catalogue.nodes import NODES
from views.parts.words import plain


def of_cluster(cluster) -> str:
    """The sources of a server and of a GPU, as far as they are named; `cluster` is plain data as the draft has it."""
    node = NODES.get(cluster.get("node"))
    gpu = GPUS.get(cluster.get("gpu") or (node.gpu if node else None))
    return _line([(row.name, row.source) for row in (node, gpu) if row is not None])


def of_model(model) -> str:
    """The source of a model that is named."""
    row = MODELS.get(model.get("name"))
    return _line([(row.name, row.source)] if row is not None else [])


def _line(rows: list[tuple[str, str]]) -> str:
    return "  \n".join(f"{plain(name)}: {plain(source)}." for name, source in rows)
