"""What can be taken away from a run: its tables, a trace, a report."""

import gzip

import streamlit as st

from sim.formats.perfetto import trace
from sim.result_dictionary import dictionary_table
from sim.result_writers import tables_archive
from views.figures.html_report import html_report
from views.parts.words import file_stem


def show(result) -> None:
    """A button for each; a file is made when its button is pressed."""
    st.subheader("Take it with you", anchor=False)
    st.caption(
        "Tables: every flow, task, port, time bin and step of the critical path in SI units, with summary and data dictionary. "
        "Trace: for ui.perfetto.dev or chrome://tracing, which read it in your browser. Report: figures and charts in one file."
    )
    stem = file_stem(result.scenario.name)
    files = (
        ("CSV", "table", f"{stem}-csv.zip", "application/zip", lambda: tables_archive(result, "csv")),
        ("Parquet", "table", f"{stem}-parquet.zip", "application/zip", lambda: tables_archive(result, "parquet")),
        ("Perfetto trace", "view_timeline", f"{stem}-trace.json.gz", "application/gzip", lambda: _packed(trace(result))),
        ("HTML report", "article", f"{stem}.html", "text/html", lambda: html_report(result)),
    )
    with st.container(horizontal=True):
        for label, icon, name, mime, content in files:
            st.download_button(
                f"Download {label}", content, name, mime, icon=f":material/{icon}:", on_click="ignore", key=f"download {label}"
            )
    with st.expander("Data dictionary", icon=":material/menu_book:"):
        st.dataframe(dictionary_table(), hide_index=True, width="stretch")


def _packed(pieces) -> bytes:
    return gzip.compress("".join(pieces).encode(), compresslevel=5)
