"""Rows of a table of published measurements, made by hand for the tests."""

from sim.published_rows import COLUMNS, PublishedRow, read_rows

GPT_175B = dict(
    id="gpt", kind="iteration", model="GPT 175B", layers=96, hidden=12_288, heads=96, ffn=49_152, vocab=51_200, seq=2048, gpu="A100-80",
    gpus=64, tp=8, pp=8, dp=1, micro_batch=1, global_batch=64, recompute="full", precision="fp16", metric="iteration time", value="18.13",
    unit="s", source="arXiv 2205.05198 Table 5",
)  # fmt: skip


def row(**changes) -> PublishedRow:
    """GPT-175B of arXiv 2205.05198 table 5, with changes."""
    return PublishedRow(**{**GPT_175B, **changes})


def table(*rows: dict, columns=COLUMNS) -> bytes:
    """CSV of the given cells."""
    lines = [",".join(columns)]
    lines += [",".join('"' + str(cells.get(column, "")).replace('"', '""') + '"' for column in columns) for cells in rows]
    return ("\n".join(lines) + "\n").encode()


def read(*rows: dict) -> list[PublishedRow]:
    """The rows as read back from CSV."""
    return read_rows(table(*rows), "table.csv")


def cells(made: PublishedRow) -> dict:
    """A row as it would be written."""
    return {column: "" if value is None else value for column, value in vars(made).items()}
