"""Lanes of partitions: every interval at its time in its colour, packed into few rows, never too many shapes."""

import numpy as np
import pandas as pd
import pytest

from tests import fabricate_records
from views.figures.lane_bars import BUSIEST, COLUMNS, MOST_BARS, MOST_ROWS, WORKED, intervals, lane_bars, packed_rows
from views.figures.lane_links import MOST_NAMED, links, told, ways_of
from views.figures.lanes import LANE, lanes
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
    bars, placed, total = lane_bars(fabricate_records.episodes(), WINDOW)
    assert placed.to_dict() == {0: 0, 1: 0, 4: 1, 5: 1, 8: 2, 9: 2}
    assert total == 3 and list(bars.columns) == COLUMNS
    assert bars.groupby("row")["partition_id"].nunique().tolist() == [2, 2, 2]
    for _, row in bars.sort_values("start_s").groupby("row"):
        assert (row["start_s"].to_numpy()[1:] >= row["end_s"].to_numpy()[:-1] - 1e-12).all()


def test_the_busiest_or_most_simulated_rows_are_kept_where_there_are_many():
    episodes = fabricate_records.episodes(lanes=MOST_ROWS + 20)
    for order, largest in ((BUSIEST, MOST_ROWS + 20), (WORKED, None)):
        bars, _, total = lane_bars(episodes, WINDOW, order)
        assert total == MOST_ROWS + 20 and bars["row"].nunique() == MOST_ROWS
        assert largest is None or bars["flows"].max() == largest


def test_many_episodes_are_joined_until_a_browser_takes_them_and_hops_are_kept():
    episodes = fabricate_records.episodes(lanes=MOST_ROWS, each=1000)
    bars, _, _ = lane_bars(episodes, (0.0, 1e-2))
    assert len(bars) <= MOST_BARS and bars["count"].max() > 1
    assert bars["packet_hops"].sum() == episodes["packet_hops"].sum()
    narrow, _, _ = lane_bars(episodes, (0.0, 5e-5))
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


def ways(one_more=""):
    """At 20 us partitions 0 and 4 go into 5, in the lane of 4, 8 into 9 in its own lane, and 9 into whatever is given."""
    ids = [0, 1, 4, 5, 8, 9]
    came, went = {5: "0 4", 9: "8"}, {0: "5", 4: "5", 8: "9", 9: one_more}
    return ways_of(
        pd.DataFrame({"partition_id": ids, "end_s": 2e-5, "came_from": [came.get(one, "") for one in ids], "went_into": [went.get(one, "") for one in ids]})
    )


def test_a_line_leads_from_the_end_of_a_partition_to_the_lane_that_it_went_into():
    episodes = fabricate_records.episodes()
    _, placed, _ = lane_bars(episodes, WINDOW)
    assert links(ways(), placed, WINDOW).to_dict("records") == [
        {"at_s": 2e-5, "from_row": 0, "to_row": 1, "from_id": 0, "to_id": 5}
    ], "4 and 8 stay in their lanes"
    assert not len(links(ways(), placed, (0.0, 1e-5))) and not len(links(ways(), placed.drop(5), WINDOW))
    figure, _, _ = lanes(episodes, WINDOW, 4e-5, ways=ways())
    line = next(trace for trace in figure.data if trace.name == "went into")
    assert list(line.x[:2]) == pytest.approx([20.0, 20.0]) and list(line.y[:2]) == [LANE / 2, 1 - LANE / 2]
    chosen, _, _ = lanes(episodes, WINDOW, 4e-5, chosen=5, ways=ways())
    assert [trace.line.color for trace in chosen.data if trace.type == "scatter" and trace.mode == "lines+markers"] == [palette.SELECTED, palette.CRITICAL]
    assert not any(trace.name == "went into" for trace in lanes(episodes, WINDOW, 4e-5)[0].data)


def test_of_too_many_lines_only_those_of_the_chosen_one_are_drawn(monkeypatch):
    monkeypatch.setattr("views.figures.lanes.MOST_LINKS", 0)
    drawn = [lanes(fabricate_records.episodes(), WINDOW, 4e-5, chosen=chosen, ways=ways())[0] for chosen in (None, 1, 5)]
    assert [any(trace.name == "went into" for trace in figure.data) for figure in drawn] == [False, False, True]


def test_a_lane_says_what_it_was_before_and_became():
    assert told(ways(), 5) == ["came from 2 partitions (0 and 4)"] and told(ways(), 0) == ["went into partition 5"] and told(ways(), 1) == []
    assert told(ways(" ".join(map(str, range(20, 40)))), 9)[1:] == [f"went into 20 partitions (20, 21, 22, 23, 24, 25 and {20 - MOST_NAMED} more)"]
    figure, _, _ = lanes(fabricate_records.episodes(), WINDOW, 4e-5, ways=ways())
    texts = [text for trace in figure.data if trace.type == "bar" for text in trace.hovertext]
    assert sum("came from 2 partitions (0 and 4)" in text for text in texts) == 2, "two episodes of partition 5"


@pytest.mark.parametrize("window", [(5e-5, 6e-5), (-2.0, -1.0)])
def test_a_time_without_partitions_says_so(window):
    figure, shown, total = lanes(fabricate_records.episodes(), window, 4e-5)
    assert "nothing was under way" in figure.layout.annotations[0].text and shown == total == 0


def test_of_stretches_that_were_not_divided_only_the_one_around_the_moment_is_outlined():
    episodes = fabricate_records.episodes().assign(partition_id=-1)
    stretches = pd.concat([episodes.head(1).assign(start_s=start, end_s=start + 5e-6, skipped_from_s=np.nan, skipped_s=0.0) for start in (0.0, 1e-5, 3e-5)])
    for at_s, wanted in ((1.2e-5, {10, 15}), (7e-6, None)):
        figure, *_ = lanes(stretches, WINDOW, 4e-5, chosen=-1, at_s=at_s)
        halo = [trace for trace in figure.data if trace.name == "chosen stretch"]
        assert ({round(x) for trace in halo for x in trace.x} or None) == wanted
        assert not any(trace.name == "chosen partition" for trace in figure.data)
