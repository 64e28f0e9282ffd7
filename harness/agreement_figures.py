"""The figures of agreement, made of what raters said of the same trials."""

from collections.abc import Sequence
from typing import NamedTuple

from harness.agreement_report import (
    Difference,
    MetricName,
    PairAgreement,
    PanelAgreement,
    Rater,
    RepeatAgreement,
)
from harness.reliability import Metric, Values, alpha, interval, kappa, nominal

FEW = 20
"""Under so many trials the figures come with a warning."""

_METRICS: dict[MetricName, Metric] = {"nominal": nominal, "interval": interval}


class PairKey(NamedTuple):
    """Two raters and what they are compared about."""

    criterion: str
    first: Rater
    second: Rater
    metric: MetricName

    @property
    def rank(self) -> int:
        """A criterion with people comes first, then people among themselves, then judges with criteria."""
        return 1 if self.first.kind == "human" else 0 if self.second.kind == "human" else 2


class Pair(NamedTuple):
    """What two raters said, and of which trials they said different things."""

    values: list[tuple[float, float]]
    differences: list[Difference]


class PanelKey(NamedTuple):
    """All people who labelled a criterion, with one that judged by it or among themselves."""

    criterion: str
    rater: Rater | None
    metric: MetricName


class Panel(NamedTuple):
    """Who said anything, and the ratings of every trial that has two or more."""

    raters: dict[Rater, None]
    units: list[Values]


def pair_agreement(key: PairKey, pair: Pair) -> PairAgreement:
    """Two raters over the trials that both judged."""
    count = len(pair.values)
    firsts, seconds = zip(*pair.values, strict=True)
    metric = _METRICS[key.metric]
    return PairAgreement(
        criterion=key.criterion,
        first=key.first,
        second=key.second,
        metric=key.metric,
        trials=count,
        agreement=round(1 - len(pair.differences) / count, 4),
        kappa=kappa(pair.values, metric),
        alpha=alpha(pair.values, metric),
        first_rate=round(sum(firsts) / count, 4),
        second_rate=round(sum(seconds) / count, 4),
        notes=(*_pair_notes(key, set(firsts), set(seconds)), *_warning(count)),
        differences=tuple(pair.differences),
    )


def _pair_notes(key: PairKey, firsts: set[float], seconds: set[float]) -> list[str]:
    """Why a figure is missing, or is there and means nothing."""
    if len(firsts | seconds) == 1:
        said = _said(key.metric, firsts)
        return [f"both always say {said}: chance agreement is 1, kappa and alpha say nothing"]
    return [
        f"{rater.name} always says {_said(key.metric, values)}: kappa is 0 whatever the other says"
        for rater, values in ((key.first, firsts), (key.second, seconds))
        if len(values) == 1
    ]


def _said(metric: MetricName, values: set[float]) -> str:
    if metric == "interval":
        return "the same points"
    return "passed" if 1.0 in values else "failed"


def _warning(trials: int) -> list[str]:
    return [f"fewer than {FEW} trials: a few more can move these figures a lot"] if trials < FEW else []


def panel_agreement(key: PanelKey, panel: Panel) -> PanelAgreement:
    """Any number of raters, not all of whom need to have judged every trial."""
    found = alpha(panel.units, _METRICS[key.metric])
    return PanelAgreement(
        criterion=key.criterion,
        raters=tuple(sorted(panel.raters, key=lambda rater: (rater.kind == "human", rater.name))),
        metric=key.metric,
        trials=len(panel.units),
        ratings=sum(map(len, panel.units)),
        alpha=found,
        notes=(*_alike("rating", found), *_warning(len(panel.units))),
    )


def repeat_agreement(judge: Rater, units: Sequence[Values]) -> RepeatAgreement:
    """One judge that was asked the same thing more than once."""
    found = alpha(units, interval)
    return RepeatAgreement(
        judge=judge,
        trials=len(units),
        scores=sum(map(len, units)),
        agreement=round(sum(len(set(unit)) == 1 for unit in units) / len(units), 4),
        alpha=found,
        notes=(*_alike("score", found), *_warning(len(units))),
    )


def _alike(what: str, found: float | None) -> list[str]:
    return [f"every {what} is the same: alpha says nothing"] if found is None else []
