"""Lanes of partitions: every interval at its time in its colour, packed into few rows, never too many shapes."""

import numpy as np
import pytest

from tests import fabricate_records
from views.figures.lane_bars import BUSIEST, COLUMNS, MOST_BARS, MOST_ROWS, WORKED, intervals, lane_bars, packed_rows
from views.figures.lanes import lanes
from views.parts import palette

WINDOW = (0.0, 4e-5)


def test_an_episode_is_cut_at_what_was_skipped_in_it():
    found = intervals(fabricate_records.episodes(lanes=1, each=2)).sort_values("start_s")
    assert found["how"].tolist() == ["simulated", "skipped", "simulated", "replayed"]
    np.testing.assert_allclose(found["end_s"] - found["start_s"], [2.5e-6, 5e-6, 2.5e-6, 1e-5])
    assert found["packet_hops"].sum() == 2 * fabricate_records.HOPS


def test_rows_are_the_lowest_free_ones_and_nothing_overlaps():
    start, end = np.array([0.0, 0.0, 1.0, 2.0, 2.0]), np.array([2.0, 1.0, 3.0, 4.0, 5.0])
    assert packed_rows(start, end).tolist() == [1, 0, 0, 1, 2]


def test_bars_of_one_lane_stay_in_one_row_though_its_partitions_follow_each_other():
    bars, total = lane_bars(fabricate_records.episodes(), WINDOW)
    assert total == 3 and list(bars.columns) == COLUMNS
    assert bars.groupby("row")["partition_id"].nunique().tolist() == [2, 2, 2]
    for _, row in bars.sort_values("start_s").groupby("row"):
        assert (row["start_s"].to_numpy()[1:] >= row["end_s"].to_numpy()[:-1] - 1e-12).all()


def test_the_busiest_or_most_simulated_rows_are_kept_where_there_are_many():
    episodes = fabricate_records.episodes(lanes=MOST_ROWS + 20)
    for order, largest in ((BUSIEST, MOST_ROWS + 20), (WORKED, None)):
        bars, total = lane_bars(episodes, WINDOW, order)
        assert total == MOST_ROWS + 20 and bars["row"].nunique() == MOST_ROWS
        assert largest is None or bars["flows"].max() == largest


def test_many_episodes_are_joined_until_a_browser_takes_them_and_hops_are_kept():
    episodes = fabricate_records.episodes(lanes=MOST_ROWS, each=1000)
    bars, _ = lane_bars(episodes, (0.0, 1e-2))
    assert len(bars) <= MOST_BARS and bars["count"].max() > 1
    assert bars["packet_hops"].sum() == episodes["packet_hops"].sum()
    narrow, _ = lane_bars(episodes, (0.0, 5e-5))
    assert narrow["count"].max() == 1 or len(narrow) > MOST_BARS / 2


def test_the_work_is_drawn_last_and_in_the_colours_of_the_palette():
    figure, shown, total = lanes(fabricate_records.episodes(), WINDOW, 4e-5, chosen=0, at_s=1e-5)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert [trace.name for trace in bars] == ["skipped", "replayed", "simulated"]
    assert [trace.marker.color for trace in bars] == [palette.HOW[trace.name] for trace in bars]
    assert (shown, total) == (3, 3) and figure.layout.xaxis.title.text == "time (µs)"
    assert any(trace.name == "chosen partition" for trace in figure.data) and len(figure.layout.shapes) == 1
    assert {0, 4, 8} == {int(number) for number, _ in bars[2].customdata}
    assert [0, 5e-6] in np.asarray(bars[0].customdata).tolist()


@pytest.mark.parametrize("window", [(5e-5, 6e-5), (-2.0, -1.0)])
def test_a_time_without_partitions_says_so(window):
    figure, shown, total = lanes(fabricate_records.episodes(), window, 4e-5)
    assert "nothing was under way" in figure.layout.annotations[0].text and shown == total == 0
