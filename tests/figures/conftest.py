"""Made-up results shared by the figure tests."""

import pytest

from tests import fabricate


@pytest.fixture(scope="session")
def incast():
    return fabricate.result(fabricate.scenario())


@pytest.fixture(scope="session")
def gpt():
    return fabricate.result(fabricate.training())


@pytest.fixture(scope="session")
def stopped():
    return fabricate.result(fabricate.training(), stop_after=0.4)
