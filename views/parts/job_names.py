"""What jobs, the traffic of others, and the time that a run takes are called on the pages."""

from sim.scenario_rules import trains

OWN_JOB, NO_JOB = "own job", "no job"
ITERATION, COMPLETION = "Iteration time", "Completion time"


def of_jobs(scenario) -> list[str]:
    """The scenario's own job first, then the further ones."""
    return [OWN_JOB, *(job.name for job in scenario.jobs)]


def of_numbers(scenario) -> dict[int, str]:
    """By the numbers in the column job of the tables; those below 0 are traffic of others."""
    background = {-1 - index: f"background {index + 1}" for index in range(len(scenario.background))}
    return {**dict(enumerate(of_jobs(scenario))), **background}


def of_time(scenario) -> str:
    """The headline of a run: that of an iteration, or the time until the last flow is done."""
    return ITERATION if trains(scenario) else COMPLETION
