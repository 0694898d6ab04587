"""A result as one HTML file that needs nothing else: figures, charts, notices, tables' meaning; no request leaves the machine."""

from collections.abc import Iterator
from html import escape

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from sim.preset import to_toml
from sim.result_dictionary import dictionary_table
from views.figures import style
from views.figures.completion import completion
from views.figures.gantt import gantt
from views.figures.heat import heat
from views.figures.hops import hop_bars, parts_of
from views.figures.port import port, quiet
from views.figures.shares import parts_of_path, path_shares
from views.parts import congestion, palette
from views.parts.job_names import of_time
from views.parts.words import fine_share, plural, show_bytes, show_count, show_time

MOST_RANKS = 24  # rows of the timeline
MOST_SCENARIO = 200_000  # characters of a scenario that is shown whole
SLOWEST = 20  # flows listed
OF_FLOW = {  # what is listed of them: the column, and how its values are told
    "flow": ("flow_id", str), "kind": ("kind", str), "collective": ("collective", str), "from rank": ("src", str), "to rank": ("dst", str),
    "size": ("bytes", show_bytes), "start": ("start_s", show_time), "completion": ("fct_s", show_time), "slowdown": ("slowdown", "{:.2f}".format),
}  # fmt: skip
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
PHONE = '<meta name="viewport" content="width=device-width, initial-scale=1">'
CONFIG = {**style.CONFIG, "plotlyServerURL": "", "responsive": True}
LOOK = f"""
body {{ font: 15px/1.5 system-ui, sans-serif; color: {palette.TEXT}; max-width: 1100px; margin: 2rem auto; padding: 0 1rem }}
h1 {{ font-size: 1.6rem; margin-bottom: 0 }} h2 {{ font-size: 1.15rem; margin-top: 2rem }}
.muted, figcaption {{ color: {palette.MUTED} }} figure {{ margin: 0 }}
.keys {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: .6rem }}
.keys div {{ border: 1px solid {palette.GRID}; border-radius: 6px; padding: .5rem .7rem }} .keys b {{ display: block; font-size: 1.3rem }}
.partial {{ border: 2px solid {palette.PAUSED}; border-radius: 6px; padding: .5rem .7rem; font-weight: 600 }}
table {{ border-collapse: collapse; width: 100%; font-size: 13px }} td, th {{ border-bottom: 1px solid {palette.GRID}; padding: .2rem .5rem; text-align: left }}
.wide {{ overflow-x: auto }}
pre {{ background: #f8fafc; padding: .7rem; overflow: auto; max-height: 30rem }}
"""


def html_report(result) -> str:
    """The report of a run."""
    scenario = result.scenario
    title = escape(scenario.title or scenario.name)
    parts = [
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{PHONE}<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f"<title>{title}</title><style>{LOOK}</style><script>{get_plotlyjs()}</script></head><body><h1>{title}</h1>",
        f'<p class="muted">{escape(scenario.description)}</p>',
        *_state(result), _key_figures(result), *_notices(result),
    ]  # fmt: skip
    for number, (heading, caption, figure) in enumerate(charts(result)):
        drawn = figure.to_html(full_html=False, include_plotlyjs=False, config=CONFIG, div_id=f"chart{number}")
        parts.append(f"<h2>{escape(heading)}</h2><figure>{drawn}<figcaption>{escape(caption)}</figcaption></figure>")
    parts += [_slowest(result), _dictionary(), _scenario(scenario), "</body></html>\n"]
    return "\n".join(parts)


def _state(result) -> Iterator[str]:
    if not result.finished:
        yield f'<p class="partial">PARTIAL RESULT ({escape(result.status)}): the run stopped at {show_time(result.end_s)}.</p>'
    mode = result.summary["mode"] + (f", level {result.summary['level']}" if result.summary["level"] else "")
    yield f'<p class="muted">Mode {escape(mode)}. Scenario {result.summary["hash"][:16]}.</p>'


def _key_figures(result) -> str:
    summary = result.summary
    times = {name: "–" if summary[f"{name}_fct_s"] is None else show_time(summary[f"{name}_fct_s"]) for name in ("mean", "p99", "max")}
    rows = (
        *_times(result),
        ("Flows finished", f"{show_count(summary['flows_finished'])} of {show_count(summary['flows'])}"),
        ("Mean flow completion", times["mean"]), ("99th percentile", times["p99"]), ("Slowest flow", times["max"]),
        *((name, value if congestion.simulated(summary) else "– (not simulated)") for name, value, _ in congestion.figures(summary)),
        ("Packet-hops", show_count(summary["packet_hops"]["total"])), ("CPU time", show_time(summary["cpu_s"]["total"])),
        ("Peak memory of the process", show_bytes(summary["peak_rss_bytes"])),
    )  # fmt: skip
    return '<h2>Key figures</h2><div class="keys">' + "".join(f"<div>{escape(name)}<b>{escape(value)}</b></div>" for name, value in rows) + "</div>"


def _times(result) -> list[tuple[str, str]]:
    """The mean iteration of each job, or when the last flow was done; how far a run got that was stopped."""
    jobs = result.summary["jobs"]
    if not result.finished or any(job["iteration_s"] is None for job in jobs):
        return [("Simulated so far", show_time(result.end_s))]
    own = of_time(result.scenario)
    names = [own] + [f"Iteration of {job['name']}" for job in jobs[1:]]
    return [(name, show_time(job["iteration_s"])) for name, job in zip(names, jobs, strict=True)] if jobs else [(own, show_time(result.end_s))]


def _notices(result) -> Iterator[str]:
    said = result.notices
    if said:
        yield "<h2>Notices</h2><ul>" + "".join(f"<li>{escape(notice)}</li>" for notice in said) + "</ul>"


def charts(result) -> Iterator[tuple[str, str, go.Figure]]:
    """(heading, caption, figure) of everything that is drawn."""
    if len(result.flows):
        yield "How long flows took", "Share of flows done within a time, per kind.", completion(result.flows)
        yield "Slowdown", "Completion time over that of the same flow alone on an idle path: 1 is undisturbed.", completion(result.flows, "slowdown")
    busy = np.unique(np.concatenate([result.dag.task_rank, result.dag.flow_src]))
    ranks = busy[np.unique(np.linspace(0, len(busy) - 1, min(len(busy), MOST_RANKS)).round().astype(int))].tolist() if len(busy) else []
    if ranks and result.end_s > 0:
        some = f" of {plural(len(busy), 'rank')}, {len(ranks)} of them" if len(ranks) < len(busy) else ""
        yield "Timeline", f"What each rank computes and sends{some}; the critical path on top.", gantt(result, ranks, (0.0, result.end_s))
        yield "What the critical path is made of", "The parts add up to its length.", path_shares(parts_of_path(result))
    if result.series.n_bins and result.series.tx_bytes.any():
        bin = int(result.series.tx_bytes.sum(axis=0).argmax())
        edges = result.series.edges_s
        yield "Network at its busiest", f"Links by load between {show_time(edges[bin])} and {show_time(edges[bin + 1])}.", heat(result, bin)
        if congestion.simulated(result.summary):
            deepest = int(np.argmax(result.raw.port_max_queue_bytes))
            told = " ".join(filter(None, ("Load, queue, marks and pauses of the port with the deepest queue.", quiet(result, deepest))))
            yield f"Deepest queue: {result.network.port_name(deepest)}", told, port(result, deepest)
    if result.summary["mode"] == "wormhole" and result.summary["packet_hops"]["total"]:
        parts = parts_of(result.summary["packet_hops"])
        told = ", ".join(f"{fine_share(value / max(1, sum(parts.values())))} {name}" for name, value in parts.items())
        yield "Where the answer came from", f"Packet-hops: {told}.", hop_bars({"run": parts}, alone=True)


def _slowest(result) -> str:
    if not len(result.flows):
        return ""
    rows = result.flows.nlargest(SLOWEST, "slowdown")
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(row, column, told))}</td>" for column, told in OF_FLOW.values()) + "</tr>" for _, row in rows.iterrows()
    )
    head = "".join(f"<th>{name}</th>" for name in OF_FLOW)
    return f'<h2>Most slowed down flows</h2><div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _cell(row, column: str, told) -> str:
    return "–" if row.isna()[column] else told(row[column])


def _dictionary() -> str:
    rows = dictionary_table().itertuples(index=False)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row) + "</tr>" for row in rows)
    return (
        "<h2>Data dictionary</h2><details><summary>Unit and meaning of every column of the tables</summary>"
        f'<div class="wide"><table><tr><th>table</th><th>column</th><th>unit</th><th>meaning</th></tr>{body}</table></div></details>'
    )


def _scenario(scenario) -> str:
    text = to_toml(scenario)
    if len(text) > MOST_SCENARIO:
        text = text[:MOST_SCENARIO] + f"\n... cut: {len(text)} characters in all"
    return f"<h2>Scenario</h2><details><summary>Everything that decides the result, as a TOML file</summary><pre>{escape(text)}</pre></details>"
