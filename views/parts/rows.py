"""A list of the draft as rows of widgets, each with a button to remove it, and one to add another."""

from collections.abc import Callable

import streamlit as st

from views.parts import draft, fields
from views.parts.keys import ROWS


def show(
    section: str, resolved, new: Callable[[], dict], empty: str, label: str, help: str, more: Callable[[str, object], None] | None = None
) -> None:
    """The rows of a section.

    Parameters
    ----------
    label, help : of the button that adds a row
    resolved : the scenario as far as it is legal, for what empty fields stand for
    new : what a row begins as; it may change the rest of the draft to make room
    empty : the sentence that stands where there is no row
    more : draws what a row has besides its fields, given its prefix ("jobs.0.") and its resolved part
    """
    word, keys = ROWS[section]
    given = draft.data().get(section) or []
    filled = getattr(resolved, section, ())
    for index in range(len(given)):
        prefix = f"{section}.{index}."
        part = filled[index] if index < len(filled) else None
        with st.container(border=True):
            fields.show(keys, part, prefix=prefix)
            if more is not None:
                more(prefix, part)
            remove(section, index, f"Remove {word} {index + 1}")
    if not given:
        st.caption(empty)
    add(section, label, new, help)


def remove(section: str, index: int, label: str) -> None:
    """A button that takes a row out of a list; a list without rows goes as a whole."""
    if st.button(label, key=f"remove {section} {index}", type="tertiary", icon=":material/delete:"):
        draft.data()[section].pop(index)
        if not draft.data()[section]:
            del draft.data()[section]
        st.rerun()


def add(section: str, label: str, new: Callable[[], dict], help: str, disabled: bool = False) -> None:
    """A button that puts a new row at the end of a list."""
    if st.button(label, icon=":material/add:", key=f"add {section}", help=help, disabled=disabled):
        row = new()
        draft.data().setdefault(section, []).append(row)
        st.rerun()
