"""Validation page: step times, memory and collectives that others published, and what is predicted for them."""

import json

import streamlit as st

from sim.errors import LabError
from sim.published import MEAN_WANTED, REFERENCE, WORST_WANTED, Validation, mean_abs_error, validate, worst
from sim.published_report import METHOD, as_csv, as_data, row_data
from sim.published_rows import COLUMNS, KINDS, read_rows
from views.figures import published
from views.figures.style import CONFIG
from views.parts import metrics, page
from views.parts.words import fine_share, plain, plural

OWN_TABLE = "presets/reference/published.csv"
KIND_NAMES = {"iteration": "Step times", "memory": "Memory", "collective": "Collectives"}
TABLES_KEPT = 4


def main() -> None:
    page.open_page("Validation", "Do the formulas for compute, memory and collectives agree with what others measured?")
    tools = st.container(horizontal=True, vertical_alignment="center", key="tools")
    found = table()
    if found is None:
        return
    download(found, tools)
    headline(found)
    pictures(found)
    rows(found)
    efficiencies(found)
    skipped(found)


@st.cache_data(max_entries=TABLES_KEPT, show_spinner="Comparing …")
def compared(content: bytes, name: str) -> Validation:
    """A table's validation; raises FormatError for one that is not as it should be."""
    return validate(read_rows(content, name), name)


def table() -> Validation | None:
    """The table that comes with the project, or one that is uploaded; what is wrong with that one is said below it, where nothing lies over it."""
    with st.expander("Compare another table", icon=":material/upload_file:"):
        given = st.file_uploader(
            "Table (CSV)", type="csv", key="published",
            help=f"The columns of presets/reference/published.csv, in this order: {', '.join(COLUMNS)}.",
        )  # fmt: skip
        st.caption("It is predicted with the efficiencies that the project's own table gives; a GPU that is not in that one takes its own rows.")
        st.download_button(
            "The project's own table, as a pattern", REFERENCE.read_bytes(), REFERENCE.name, "text/csv",
            icon=":material/download:", on_click="ignore", key="own table",
        )  # fmt: skip
    try:
        if given is None:
            return compared(REFERENCE.read_bytes(), OWN_TABLE)
        st.caption(f"Table: {plain(given.name)}")
        return compared(given.getvalue(), given.name)
    except LabError as problem:
        st.error(plain(str(problem)), icon=":material/error:")
        return None


def headline(found: Validation) -> None:
    steps, memory, collectives = (found.of_kind(kind) for kind in KINDS)
    near = sum(abs(row.error) <= WORST_WANTED for row in steps)
    told = f"By {plural(len(found.rows), 'number')}; {plural(len(found.skipped), 'row is', 'rows are')} skipped, each with its reason below"
    shown = [("Rows compared", str(found.rows_compared), told)]
    if steps:
        told = f"Mean of |predicted / published - 1| over {plural(len(steps), 'row')}; wanted: at most {100 * MEAN_WANTED:.0f} %"
        shown.append(("Steps: mean error", fine_share(mean_abs_error(steps)), told))
        shown.append((f"Within {100 * WORST_WANTED:.0f} %", f"{near} of {len(steps)}", f"Worst: {100 * worst(steps).error:+.0f} %, {plain(worst(steps).id)}"))
    if memory:
        shown.append(("Memory: worst error", fine_share(abs(worst(memory).error)), f"Of {plural(len(memory), 'row')}"))
    if collectives:
        shown.append(("Collectives: mean error", fine_share(mean_abs_error(collectives)), f"Of {plural(len(collectives), 'row')}"))
    metrics.row("validation", *shown, border=True)
    st.caption(METHOD)


def pictures(found: Validation) -> None:
    kinds = [kind for kind in KINDS if found.of_kind(kind)]
    if not kinds:
        return
    with st.container(horizontal=True, key="pictures"):
        st.html("<style>.st-key-pictures > div { flex: 1 1 360px; min-width: 0; }</style>")
        with st.container():
            chosen = st.segmented_control(
                "Kind", kinds, default=kinds[0], required=True, key="kind", format_func=KIND_NAMES.get, label_visibility="collapsed"
            )
            st.plotly_chart(
                published.scatter(found.of_kind(chosen)), config=CONFIG, key="scatter", alt="What is predicted against what was published"
            )
            st.caption("Each mark is a row of the table; the band is ±10 % around equality. Hover for the row and what its time consists of.")
        with st.container():
            st.subheader("By the software that was measured", anchor=False)
            st.plotly_chart(published.by_software(found.by_source()), config=CONFIG, key="software", alt="Errors of step times by training software")
            st.caption("What a program overlaps and fuses is taken from its papers and recipes. One efficiency serves all programs on a GPU.")


def rows(found: Validation) -> None:
    st.subheader("Row by row", anchor=False)
    columns = ("id", "published", "predicted", "unit", "error", "software", "gpu", "metric", "source")
    listed = [{column: row_data(row).get(column) for column in columns} for row in found.rows]
    st.dataframe(
        listed, hide_index=True, width="stretch", height=420, column_order=columns,
        column_config={
            "id": st.column_config.TextColumn("row", pinned=True),
            "published": st.column_config.NumberColumn(format="%.5g"),
            "predicted": st.column_config.NumberColumn(format="%.5g"),
            "error": st.column_config.NumberColumn(format="percent", help="Predicted over published, less 1"),
            "gpu": st.column_config.TextColumn("GPU, precision"),
        },
    )  # fmt: skip
    st.caption("Published and predicted are in the unit of the row, an error above 0 means more of it: of tokens/s faster, of seconds slower.")


def efficiencies(found: Validation) -> None:
    st.subheader("The fitted efficiencies", anchor=False)
    listed = [
        {"GPU, precision": key, "efficiency": one.efficiency, "rows": one.rows, "lowest": one.lowest, "highest": one.highest, "from": one.origin}
        for key, one in sorted(found.fitted.items())
    ]
    percent = st.column_config.NumberColumn(format="percent")
    st.dataframe(listed, hide_index=True, width="stretch", column_config=dict.fromkeys(("efficiency", "lowest", "highest"), percent))
    st.caption(
        "The share of its peak that a GPU reaches in large matrix products, the only number that is fitted: the median of what each row alone "
        "would need, whose lowest and highest stand beside it, or the nearest share with which every row is within 10 %. Products "
        "that are small, and all that is no product, take longer by formulas."
    )


def skipped(found: Validation) -> None:
    if not found.skipped:
        return
    with st.expander(f"{plural(len(found.skipped), 'row')} not compared", icon=":material/playlist_remove:"):
        st.dataframe([{"row": row.id, "kind": row.kind, "why": row.why} for row in found.skipped], hide_index=True, width="stretch")


def download(found: Validation, tools) -> None:
    with tools:
        st.download_button(
            "Everything as JSON", json.dumps(as_data(found), indent=2, allow_nan=False), "validation.json", "application/json",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        st.download_button("Rows as CSV", as_csv(found), "validation.csv", "text/csv", icon=":material/download:", on_click="ignore")


main()
