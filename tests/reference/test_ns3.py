"""Packet mode against ns-3: every reference case meets what it must."""

import pytest

from sim.command.reference import reference_cases, validated

CASES = reference_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_reference_case(case):
    found = validated(case)
    assert found["passed"], f"must be: {found['must']}; {', '.join(found['missed'])}"
    assert not case.exact or found["equal_ns"] == found["flows"]


def test_the_reference_is_all_there():
    assert len(CASES) == 64
    assert {case.scenario[:2] for case in CASES} == {"S0", "S1", "S2", "S4", "S5", "S7"}
    assert sum(case.exact for case in CASES) == 57
