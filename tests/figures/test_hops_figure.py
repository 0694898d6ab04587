"""Bars of packet-hops: shares of each row, in the three colours, the small ones never written as nothing."""

import pytest

from views.figures.hops import hop_bars, parts_of
from views.parts import palette
from views.parts.words import fine_share


def test_each_row_adds_up_and_each_part_has_its_colour():
    figure = hop_bars({"packet": {"simulated": 500}, "wormhole": {"simulated": 1, "replayed": 299, "skipped": 200}})
    assert [trace.name for trace in figure.data] == ["simulated", "replayed", "skipped"]
    assert [trace.marker.color for trace in figure.data] == list(palette.HOW.values())
    assert sum(trace.x[0] for trace in figure.data) == sum(trace.x[1] for trace in figure.data) == 100
    assert figure.data[0].hovertext[1] == "1 packet-hops simulated (wormhole), 0.20 %"
    assert figure.data[1].text[1] == "replayed 60 %" and figure.data[0].text[1] == ""


def test_a_lone_bar_has_no_name_and_no_hops_are_no_error():
    figure = hop_bars({"so far": {"simulated": 0, "replayed": 0, "skipped": 0}}, alone=True)
    assert figure.layout.yaxis.showticklabels is False and [trace.x[0] for trace in figure.data] == [0, 0, 0]


def test_parts_of_a_summary_add_up_whatever_was_simulated_in_vain():
    assert parts_of({"executed": 7, "replayed": 2, "skipped": 3, "total": 6}) == {"simulated": 1, "replayed": 2, "skipped": 3}
    assert parts_of({"executed": 1, "replayed": 2, "skipped": 3, "total": 6}) == {"simulated": 1, "replayed": 2, "skipped": 3}


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"), (1, "100 %"), (1e-7, "under 0.001 %"), (1 - 1e-7, "over 99.999 %"), (0.00014, "0.014 %"),
        (0.0123, "1.2 %"), (0.472, "47 %"), (0.99986, "99.986 %"),
    ],
)  # fmt: skip
def test_shares_say_what_matters_at_both_ends(share, text):
    assert fine_share(share) == text
