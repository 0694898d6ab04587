"""Parameters of the controllers: units on the way into the kernel, overrides, names that do not exist."""

import pytest

from sim.congestion.registry import COLUMNS, CONTROLLERS, FIXED_POINT, name_of, parameter_row
from sim.errors import ScenarioError


def test_microseconds_and_megabits_become_kernel_units():
    row = parameter_row("dcqcn")[0]
    assert row["dcqcn_increase_interval_ps"] == 300 * 10**6
    assert row["dcqcn_additive_bps"] == 20 * 10**6
    assert row["dcqcn_gain"] == 1 / 256
    assert row["timely_low_ps"] == 50 * 10**6


def test_an_override_touches_its_own_controller_only():
    row = parameter_row("timely", {"additive_mbps": 7, "beta": 0.5})[0]
    assert row["timely_additive_bps"] == 7 * 10**6 and row["timely_beta"] == 0.5
    assert row["swift_beta"] == 0.8
    assert row["dcqcn_additive_bps"] == 20 * 10**6


@pytest.mark.parametrize("name", CONTROLLERS)
def test_every_parameter_can_be_given(name):
    for parameter in CONTROLLERS[name].PARAMETERS:
        assert parameter_row(name, {parameter.name: parameter.value}).tobytes() == parameter_row(name).tobytes()


def test_a_second_arithmetic_adds_columns_and_a_number_of_its_own():
    modules = [*CONTROLLERS.values(), *FIXED_POINT.values()]
    assert len({module.NUMBER for module in modules}) == len(modules)
    assert all(name_of(module.NUMBER) == name for name, module in (*CONTROLLERS.items(), *FIXED_POINT.items()))
    assert len({name for name, _ in COLUMNS}) == len(COLUMNS)
    assert all(module.PARAMETERS == CONTROLLERS[name].PARAMETERS for name, module in FIXED_POINT.items())


def test_a_wrong_name_is_answered_with_the_nearest():
    with pytest.raises(
        ScenarioError,
        match=r"parameters\.gian: dctcp has no such parameter; did you mean 'gain'\? known: gain, additive_mbps",
    ):
        parameter_row("dctcp", {"gian": 0.1})
    with pytest.raises(ScenarioError, match="none has no such parameter"):
        parameter_row("none", {"gain": 0.1})


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_a_senseless_value_is_refused(value):
    with pytest.raises(ScenarioError, match=r"parameters\.gain = .*: must be from 0 to 1; the nearest is [01]$"):
        parameter_row("dcqcn", {"gain": value})
