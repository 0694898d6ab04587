"""The known controllers, their parameters as one record, and their state columns as one layout."""

import numpy as np

from sim.congestion import dcqcn, dctcp, hpcc, hpcc_fixed, none, swift, timely
from sim.errors import ScenarioError, did_you_mean

CONTROLLERS = {module.NAME: module for module in (none, dcqcn, hpcc, timely, dctcp, swift)}
FIXED_POINT = {hpcc.NAME: hpcc_fixed}  # a second arithmetic of a controller, with its parameters

COLUMNS = [column for module in (*CONTROLLERS.values(), *FIXED_POINT.values()) for column in module.COLUMNS]

_KERNEL_UNIT = {"us": ("_us", "_ps", 1e6), "Mb/s": ("_mbps", "_bps", 1e6)}


def name_of(number: int) -> str:
    """Name of the controller that the kernel knows by `number`, whichever its arithmetic; its columns are `<name>_...`."""
    modules = (*CONTROLLERS.items(), *FIXED_POINT.items())
    return next(name for name, module in modules if module.NUMBER == number)


def _kernel_field(module, parameter):
    """Name and scale of a parameter in the kernel's units: `low_us` of TIMELY is `timely_low_ps`, 10^6."""
    old, new, scale = _KERNEL_UNIT.get(parameter.unit, ("", "", 1.0))
    name = f"{module.NAME}_{parameter.name}"
    return (name.removesuffix(old) + new if old else name), scale


PARAMETER_ROW = np.dtype(
    [(_kernel_field(module, parameter)[0], "f8") for module in CONTROLLERS.values() for parameter in module.PARAMETERS]
    + [(name, "i8") for module in FIXED_POINT.values() for name, _, _ in module.INTEGERS]
)


_LEGAL = {"us": (1e-3, 1e6), "Mb/s": (0.0, 1e7), "1": (0.0, 1.0), "0 or 1": (0.0, 1.0), "packets": (1e-3, 1e6)}
_COUNTS = (0.0, 1e6)


def bounds(parameter) -> tuple[float, float]:
    """Least and greatest legal value of a parameter, in its unit; a flow's least rate is never nothing."""
    if parameter.name.startswith("min_rate"):
        return 1.0, 1e7
    return _LEGAL.get(parameter.unit, _COUNTS)


def parameter_row(controller: str, overrides: dict[str, float] | None = None) -> np.ndarray:
    """One record of every controller's parameters in kernel units (ps, bit/s), `overrides` applied.

    Raises ScenarioError for a parameter that `controller` does not have.
    """
    row = np.zeros(1, PARAMETER_ROW)
    for module in CONTROLLERS.values():
        for parameter in module.PARAMETERS:
            field, scale = _kernel_field(module, parameter)
            row[0][field] = parameter.value * scale
    known = {parameter.name: parameter for parameter in CONTROLLERS[controller].PARAMETERS}
    for name, value in (overrides or {}).items():
        if name not in known:
            raise ScenarioError(
                f"transport.parameters.{name}: {controller} has no such parameter; {did_you_mean(name, known)}"
            )
        low, high = bounds(known[name])
        if not low <= value <= high:
            nearest = low if not value > low else high
            unit = f" {known[name].unit}" if known[name].unit != "1" else ""
            told, least, most, near = (f"{one:.15g}" for one in (value, low, high, nearest))
            raise ScenarioError(f"transport.parameters.{name} = {told}: must be from {least} to {most}{unit}; the nearest is {near}")
        field, scale = _kernel_field(CONTROLLERS[controller], known[name])
        row[0][field] = value * scale
    for module in FIXED_POINT.values():
        for name, field, scale in module.INTEGERS:
            row[0][name] = round(row[0][field] * scale)
    return row
