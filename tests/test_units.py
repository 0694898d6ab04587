"""Units: exact where a byte on the wire depends on it, readable where a person looks."""

import pytest

from sim import units


def test_picoseconds_are_exact_at_every_line_rate():
    assert [units.ps_to_send(1, gbps * 10**9) for gbps in (100, 200, 400, 800)] == [80, 40, 20, 10]
    assert units.ps_to_send(1048, units.bps_from_gbps(100)) == 83_840
    assert units.ps_to_send(5_000_000_000, 10**11) == 400_000_000_000


def test_serialisation_rounds_up():
    assert units.ps_to_send(1, 3 * 10**12) == 3


@pytest.mark.parametrize(
    "call, value, expected",
    [
        (units.ps_from_us, 0.1, 100_000),
        (units.ps_from_ns, 0.25, 250),
        (units.ps_from_s, 2, 2 * 10**12),
        (units.bps_from_gbps, 3600, 3_600_000_000_000),
        (units.bps_from_gbps, 0.1, 100_000_000),
        (units.bytes_from_kb, 1.048, 1048),
        (units.bytes_from_mb, 32, 32_000_000),
    ],
)
def test_from_is_exact(call, value, expected):
    assert call(value) == expected


@pytest.mark.parametrize(
    "text, bps",
    [
        ("100Gbps", 10**11),
        ("40Mb/s", 4 * 10**7),
        ("2.5Gbps", 2_500_000_000),
        ("1GBps", 8 * 10**9),
        ("100bps", 100),
        ("100", None),
        ("100 Gbps", None),
        ("fast", None),
        ("100Gb", None),
        ("100Gbpss", None),
        ("infGbps", None),
    ],
)
def test_rates_need_their_unit(text, bps):
    assert units.parse_rate_bps(text) == bps


@pytest.mark.parametrize(
    "text, ps", [("0.001ms", 10**6), ("1us", 10**6), ("1000ns", 10**6), ("0.5ns", 500), ("1000", None), ("1min", None)]
)
def test_times_need_their_unit(text, ps):
    assert units.parse_time_ps(text) == ps


@pytest.mark.parametrize(
    "shown, expected",
    [
        (units.show_time(1.234e-3), "1.23 ms"),
        (units.show_time(0.9999), "1.00 s"),
        (units.show_time(83.84e-9), "83.8 ns"),
        (units.show_time(250), "250 s"),
        (units.show_time(0), "0 s"),
        (units.show_time(float("nan")), "n/a"),
        (units.show_bytes(4_000_000), "4.00 MB"),
        (units.show_bytes(999), "999 B"),
        (units.show_bytes(999_999), "1.00 MB"),
        (units.show_rate(400e9), "400 Gb/s"),
        (units.show_rate(3.6e12), "3.6 Tb/s"),
        (units.show_count(1_100_000_000), "1.1 G"),
        (units.show_count(312), "312"),
    ],
)
def test_shown(shown, expected):
    assert shown == expected


@pytest.mark.parametrize("count, words, shown", [(1, ("flow",), "1 flow"), (0, ("flow",), "0 flows"), (1200, ("link has", "links have"), "1,200 links have")])
def test_counts_with_their_nouns(count, words, shown):
    assert units.show_plural(count, *words) == shown


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e7, "10000000"), (0.5, "0.5"), (1e-5, "0.00001"), (1.5e-9, "0.0000000015"), (0.0, "0"), (-1e6, "-1000000"), (1e300, "1e+300")],
)
def test_numbers_are_written_without_powers_of_ten(value, text):
    assert units.show_number(value) == text


@pytest.mark.parametrize("word, value", [("2", 2), ("2.", 2), (".5", 0.5), ("-1e-3", -0.001), ("+4E2", 400)])
def test_numbers(word, value):
    assert units.plain_number(word) == value


@pytest.mark.parametrize("word", ["", "2_0.0", "nan", "inf", "0x1", "１００", "٣", "1e", ".", "1 2", "- 1"])
def test_what_python_takes_beyond_plain_numbers_is_none(word):
    assert units.plain_number(word) is None and not units.is_whole(word)


def test_whole_words():
    assert units.is_whole("0012") and not units.is_whole("1.0") and not units.is_whole("9" * 41) and not units.is_whole("-1") and not units.is_whole("3_2")
