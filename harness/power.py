"""What drop a suite can see, and how large a suite has to be to see a given one."""

import math

from harness.student import normal_quantile, t_quantile

POWER = 0.8
_MOST_SCENARIOS = 1_000_000


def detectable(standard_error: float, df: float, level: float = 0.95) -> float:
    """The change that would be found in four of five suites like this, with this standard error."""
    return standard_error * (t_quantile((1 + level) / 2, df) + t_quantile(POWER, df))


def difference_variance(within: float, seeds: int, varies: float = 0.0) -> float:
    """Of one scenario's difference between two runs; `varies` is the variance of the change itself.

    How hard a scenario is cancels out, since both runs have the same scenarios.
    """
    return 2 * within / seeds + varies


def scenarios_needed(drop: float, within: float, seeds: int, level: float = 0.95) -> int:
    """Scenarios for two runs with so many seeds to find a mean drop, which varies by as much as its size.

    That it hits all scenarios alike would be too good to plan with. Null variance still needs a few.
    """
    variance = difference_variance(within, seeds, drop * drop)
    reach = normal_quantile((1 + level) / 2) + normal_quantile(POWER)
    number = max(3, math.ceil(reach**2 * variance / drop**2))
    while number < _MOST_SCENARIOS and detectable(math.sqrt(variance / number), number - 1, level) > drop:
        number += max(1, number // 200)
    return number


def detectable_drop(within: float, scenarios: int, seeds: float, level: float = 0.95) -> float | None:
    """The smallest mean drop that two runs of this size find; null where the scenarios are too few for any.

    As above, a drop is taken to vary between scenarios by as much as its size.
    """
    if scenarios < 2:
        return None
    reach = detectable(1.0, scenarios - 1, level)
    left = 1 - reach**2 / scenarios
    return reach * math.sqrt(2 * within / seeds / scenarios / left) if left > 0 else None
