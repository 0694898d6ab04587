"""One scenario in several modes: which runs are needed, which are there, and in words how far they are apart."""

from sim.accuracy import differing, fct_error, rtt_nrmse
from views.parts import level_trials, sensitivity, trials
from views.parts.labels import labelled
from views.parts.trials import Trial
from views.parts.words import off, show_count

LABELS = {"wormhole": "Wormhole", "packet": "Packet", "flow": "Flow level", "replay": "Replay only", "skip": "Skip only"}
SWITCHES = {"replay": {"replay": True, "skip": False}, "skip": {"replay": False, "skip": True}}
ORDER = ("packet", "wormhole", "flow")
TELLING = 1e-5  # below, the sign of an error says nothing
THINGS = {  # arrays of `sim.accuracy.COMPARED` in words
    "start_ps": "starts of flows and tasks",
    "end_ps": "ends of flows and tasks",
    "acked_ps": "completions of flows",
    "flow_marks": "marks of flows",
    "flow_retransmits": "retransmissions of flows",
    "flow_acked_bytes": "bytes of flows",
    "port_tx_bytes": "bytes of ports",
    "port_tx_packets": "packets of ports",
    "port_max_queue_bytes": "deepest queues",
    "port_marks": "marks of ports",
    "port_pauses": "pauses of ports",
    "port_paused_ps": "paused times of ports",
    "port_drops": "drops of ports",
}


def modes_beside(result) -> list[Trial]:
    """Runs in every mode that the engine has but the result's own, quick ones first."""
    return [Trial(mode, result.scenario, {"mode": mode}) for mode in reversed(ORDER) if mode != result.raw.mode]


def ablation_of(result) -> list[Trial]:
    """The wormhole kernel with one of its two means alone."""
    return [Trial(name, result.scenario, {"mode": "wormhole", **switches}) for name, switches in SWITCHES.items()]


def find(result, name: str):
    """The finished result of a trial beside this result, or None."""
    return trials.desk().find(result.scenario.digest(), name)


def results(result) -> dict:
    """Finished results by mode: the one on show, and those that were run beside it."""
    found = {mode: find(result, mode) for mode in ORDER}
    found[result.raw.mode] = result
    return {mode: one for mode, one in found.items() if one is not None}


def label(name: str) -> str:
    """How a trial is called on the page."""
    return sensitivity.label(name) or level_trials.label(name) or LABELS[name]


def failures(result) -> list[str]:
    """A line for each run that failed; runs that failed alike share one."""
    desk, alike = trials.desk(), {}
    if desk.of == result.scenario.digest():
        for trial in desk.trials:
            if trial.state == "failed":
                alike.setdefault(trial.job.error, []).append(label(trial.name))
    return [f"{names[0]}{f' and {len(names) - 1} more' * (len(names) > 1)}: {labelled(error)}" for error, names in alike.items()]


def differences(one, packet) -> str:
    """What differs between two runs, in words; nothing if they are equal to the bit."""
    return ", ".join(f"{show_count(count)} {THINGS.get(name, name)}" for name, count in differing(one, packet).items())


def errors_in_words(one, packet) -> dict[str, str]:
    """mean, worst and round_trip errors of flows and that of the iteration, signed, as text."""
    error, nrmse = fct_error(one, packet), rtt_nrmse(one, packet)
    whole = one.end_s / packet.end_s - 1 if packet.end_s > 0 else 0.0
    return {
        "mean": "–" if error is None else off(error["mean"]),
        "worst": "–" if error is None else off(error["max"]),
        "round_trip": "–" if nrmse is None else f"{nrmse:.2g}",
        "iteration": off(abs(whole)) if abs(whole) < TELLING else f"{100 * whole:+.2g} %".replace("-", "−"),
    }
