"""From one run to what runs like it can show: its variances, the drop that is seen, the sizes for others."""

import math

from harness.compared_run import ComparedRun
from harness.errors import SynthesisError
from harness.intervals import mean_interval
from harness.power import POWER, detectable, detectable_drop, scenarios_needed
from harness.power_report import Needed, PowerReport
from harness.variance import components

DROPS = (0.01, 0.02, 0.05)
SEEDS = (1, 3, 5, 10)
LEVEL = 0.95


def power_of(run: ComparedRun) -> PowerReport:
    """Two scenarios at least, one of them with two trials, or nothing is known about chance."""
    groups = [list(found.scores.values()) for found in run.scenarios.values() if found.scores]
    found = components(groups)
    if found is None or found.within is None:
        what = "a single scenario" if found is None else "no scenario has two scored trials"
        fix = "run more scenarios" if found is None else "run with more than one seed, for example --seeds 3"
        raise SynthesisError(f"{what}: chance cannot be measured", where=str(run.report), fix=fix)
    trials = sum(map(len, groups))
    seeds = trials / len(groups)
    interval = mean_interval(
        [math.fsum(group) / len(group) for group in groups], weights=[len(group) for group in groups]
    )
    drop = detectable_drop(found.within, len(groups), seeds, LEVEL)
    own = max(1, round(seeds))
    return PowerReport(
        run=run.side.name,
        scenarios=len(groups),
        seeds=round(seeds, 2),
        mean=round(interval.estimate, 6),
        within=round(found.within, 6),
        between=round(found.between, 6),
        within_share=None if found.within_share is None else round(found.within_share, 6),
        level=LEVEL,
        power=POWER,
        detectable_drop=round(drop, 6) if drop is not None and drop <= 1 else None,
        below_line=round(detectable(interval.standard_error, len(groups) - 1, LEVEL), 6),
        needed=tuple(
            Needed(drop=size, seeds=number, scenarios=scenarios_needed(size, found.within, number, LEVEL))
            for size in DROPS
            for number in sorted({*SEEDS, own})
        ),
    )
