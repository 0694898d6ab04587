"""Rows of a table of published measurements, made by hand for the tests, and jobs on a GPU of round numbers."""

from dataclasses import replace

from sim.published_jobs import job_of
from sim.published_rates import Rates
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


def with_stack(job, **changes):
    """The job with other software."""
    return replace(job, stack=replace(job.stack, **changes))


ROUND = Rates(
    product_flops=1e12, bf16_flops=1e12, forward_flops=1e12, backward_flops=5e11, memory_bytes_per_s=1e12, nvlink_bytes_per_s=1e11,
    all_to_all_bytes_per_s=1e11, nic_bytes_per_s=1e10, kernel_s=20e-6, multiprocessors=128, block_rows=(0.0, 0.0),
)  # fmt: skip
SMALL = job_of(row(layers=4, hidden=1024, heads=8, ffn=4096, vocab=8192, seq=512, gpus=8, tp=8, pp=1, recompute="none", global_batch=4))
ALONE = replace(SMALL, tp=1, gpus=1)
MIXTURE = job_of(
    row(model="mine", layers=4, hidden=1024, heads=8, ffn=512, vocab=8192, seq=512, experts=16, topk=2, gpus=16, tp=1, pp=1, ep=16, dp=16,
        global_batch=16, recompute="none", source="")
)  # fmt: skip
