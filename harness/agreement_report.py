"""The records of an agreement report: who was compared with whom, how far they agree, where they differ."""

from typing import Literal

from pydantic import Field

from harness.records import Record

MetricName = Literal["nominal", "interval"]


class Rater(Record):
    """Who gave a verdict: a criterion of the rubric, a judge among them, or a person."""

    kind: Literal["judge", "criterion", "human"]
    name: str
    number: int = Field(default=1, description="which of the criteria of this name in one rubric, from 1")


class Opinion(Record):
    """What one rater said of one trial; a person gives a verdict or points, never both."""

    passed: bool | None
    points: float | None
    reason: str | None


class Difference(Record):
    """A trial on which two raters differ."""

    scenario: str
    seed: int
    first: Opinion
    second: Opinion


class PairAgreement(Record):
    """Two raters over the trials that both judged; kappa and alpha are null where the notes say why."""

    criterion: str = Field(description="the name of the criterion that this is about")
    first: Rater
    second: Rater
    metric: MetricName = Field(description="nominal: passed or failed; interval: the share of the points")
    trials: int
    agreement: float = Field(description="share of the trials with the same verdict, or the same points")
    kappa: float | None = Field(description="Cohen's; for points weighted by squares")
    alpha: float | None = Field(description="Krippendorff's")
    first_rate: float = Field(description="share passed, or mean share of the points")
    second_rate: float
    notes: tuple[str, ...]
    differences: tuple[Difference, ...]


class PanelAgreement(Record):
    """Krippendorff's alpha over more than one person, without the criterion and with it."""

    criterion: str
    raters: tuple[Rater, ...]
    metric: MetricName
    trials: int = Field(description="trials with two ratings or more")
    ratings: int
    alpha: float | None
    notes: tuple[str, ...]


class RepeatAgreement(Record):
    """A judge with itself: the scores it gave when asked more than once."""

    judge: Rater
    trials: int
    scores: int
    agreement: float = Field(description="share of the trials where all scores are the same")
    alpha: float | None = Field(description="Krippendorff's, interval")
    notes: tuple[str, ...]


class UnjudgedLabel(Record):
    """A label that could not be compared, because there is no verdict beside it."""

    line: int
    scenario: str
    seed: int
    criterion: str
    rater: str
    why: str


class AgreementSummary(Record):
    """What was read."""

    scenarios: int
    trials: int
    labels: int
    unjudged: int = Field(description="labels that a verdict is missing for")


class AgreementStamp(Record):
    """What produced the numbers."""

    tool_version: str
    report: str
    report_sha256: str
    labels: str | None
    labels_sha256: str | None


class AgreementReport(Record):
    """What `synthesis agree --json` prints."""

    kind: Literal["agreement"] = "agreement"
    schema_version: Literal["1"] = "1"
    summary: AgreementSummary
    pairs: tuple[PairAgreement, ...]
    panels: tuple[PanelAgreement, ...]
    repeats: tuple[RepeatAgreement, ...]
    unjudged: tuple[UnjudgedLabel, ...]
    stamp: AgreementStamp
