"""Distribution of completion times: a true cumulative share, thinned without losing its ends."""

import numpy as np
import pandas as pd

from views.figures.completion import POINTS, completion, decimated_distribution
from views.figures.style import LEGEND_ROW_PX


def test_distribution_ends_at_all_flows_and_keeps_the_extremes():
    values = np.random.default_rng(1).exponential(size=100_000)
    x, share = decimated_distribution(values)
    assert len(x) <= POINTS + 1 and x[0] == values.min() and x[-1] == values.max()
    assert share[0] == 0 and share[-1] == 1 and (np.diff(share) >= 0).all()
    exact = [(values <= at).mean() for at in x[1:]]
    np.testing.assert_allclose(share[1:], exact)


def test_one_curve_per_kind_with_its_count_and_units(gpt):
    figure = completion(gpt.flows)
    assert {trace.name.split()[0] for trace in figure.data} == {"PP", "DP", "embedding"}
    assert figure.layout.xaxis.title.text == "flow completion time (µs)"
    assert figure.layout.yaxis.title.text == "share of flows (%)"


def test_the_legend_has_a_row_for_each_kind_above_the_plot(gpt):
    few, many = completion(gpt.flows[gpt.flows["kind"] == "DP"]), completion(gpt.flows)
    assert many.layout.height - few.layout.height == LEGEND_ROW_PX * (len(many.data) - 1) > 0
    legend = many.layout.legend
    assert (legend.yref, legend.y, legend.yanchor) == ("container", 1, "top"), "rows that come or go with the width push the plot"


def test_wide_spreads_get_a_logarithmic_axis():
    flows = pd.DataFrame({"kind": "DP", "fct_s": [1e-6, 1e-3]})
    assert completion(flows).layout.xaxis.type == "log"
    assert completion(flows.assign(fct_s=[1e-6, 2e-6])).layout.xaxis.type is None


def test_nothing_finished_is_said():
    flows = pd.DataFrame({"kind": ["DP"], "fct_s": [np.nan]})
    assert completion(flows).layout.annotations[0].text == "no flow has finished"
