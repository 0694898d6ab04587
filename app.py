"""Wormhole Lab in the browser: page configuration and the list of pages."""

import streamlit as st

st.set_page_config(page_title="Wormhole Lab", page_icon="🕳️", layout="wide")
st.logo("views/logo.svg", size="large")
st.navigation(
    [
        st.Page("views/build.py", title="Build", icon=":material/tune:", default=True),
        st.Page("views/import_files.py", title="Import", icon=":material/upload_file:"),
        st.Page("views/run.py", title="Run", icon=":material/play_arrow:"),
        st.Page("views/timeline.py", title="Timeline", icon=":material/view_timeline:"),
        st.Page("views/network.py", title="Network", icon=":material/hub:"),
        st.Page("views/partitions.py", title="Partitions", icon=":material/view_week:"),
        st.Page("views/patterns.py", title="Conflict patterns", icon=":material/schema:"),
        st.Page("views/accuracy.py", title="Accuracy", icon=":material/verified:"),
        st.Page("views/validation.py", title="Validation", icon=":material/fact_check:"),
    ],
    position="top",
).run()
