"""What the command line says about models, checked before anything runs."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.arguments import one_of, whole_number
from harness.endpoint import Endpoint, ModelAccess
from harness.errors import SynthesisError
from harness.model import split_name
from harness.model_subject import ModelSubject
from harness.models import Models
from harness.plan import Plan
from harness.problems import shown
from harness.recordings import Recordings
from harness.sandbox import LEVELS, strongest
from harness.secrets import Redactor
from harness.settings import Settings
from harness.spending import Budget, Prices


@dataclass(frozen=True)
class ModelArguments:
    """Options as they were typed; None where nothing was."""

    model: str | None = None
    base_url: str | None = None
    override_subject: bool = False
    judge_model: str | None = None
    judge_base_url: str | None = None
    max_cost: str | None = None
    max_tokens: str | None = None
    record: str | None = None
    replay: str | None = None
    require_sandbox: str | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value == "":  # a shell variable that is not set: it must not mean somebody else's server
                option = f"--{name.replace('_', '-')}"
                raise SynthesisError("nothing is given", where=option, fix="give it a value, or leave it out")

    def access(self, environment: Mapping[str, str], *, offline: bool = False) -> ModelAccess:
        """For subjects; where answers are replayed nothing is sent."""
        if self.override_subject and self.model is None:
            fix = "name the model that is to answer: --model PROVIDER:NAME"
            raise SynthesisError("--override-subject has nothing to put in place", fix=fix)
        found = _access(self.model, self.base_url, "--model", environment)
        return replace(found, offline=offline or self.replay is not None, override=self.override_subject)

    def judge_access(self, environment: Mapping[str, str], *, offline: bool = False) -> ModelAccess:
        """For judges."""
        found = _access(self.judge_model, self.judge_base_url, "--judge-model", environment)
        offline = offline or self.replay is not None
        return replace(found, offline=offline, option="--judge-base-url")

    def models(self, settings: Settings, environment: Mapping[str, str], jobs: int) -> Models:
        """The models of a run, nothing asked yet."""
        redactor = Redactor.of(environment)
        return Models(
            redactor,
            self._recordings(redactor),
            self.budget(settings.prices),
            retries=settings.eval.retries,
            at_once=jobs,
        )

    def budget(self, prices: Prices) -> Budget:
        """What the run may use."""
        tokens = None if self.max_tokens is None else whole_number(self.max_tokens, "--max-tokens", least=1)
        return Budget(None if self.max_cost is None else _money(self.max_cost), tokens, prices)

    def _recordings(self, redactor: Redactor) -> Recordings | None:
        if self.record is not None and self.replay is not None:
            raise SynthesisError("--record and --replay exclude each other", fix="give one of them")
        if self.record is not None:
            return Recordings(Path(self.record), "record", redactor)
        return None if self.replay is None else Recordings(Path(self.replay), "replay")

    def check(self, plan: Plan, prices: Prices) -> None:
        """A budget needs prices, and a sandbox that is asked for has to be there."""
        refuse_unpriced(endpoints(plan), self.budget(prices))
        if self.require_sandbox is not None:
            wanted = one_of(self.require_sandbox, "--require-sandbox", LEVELS)
            reached = strongest()
            if LEVELS.index(reached) < LEVELS.index(wanted):
                fix = "install bubblewrap, or ask for less" if wanted == "bubblewrap" else "ask for less"
                what = f"this machine reaches {reached}, not {wanted}"
                raise SynthesisError(what, where="--require-sandbox", fix=fix)


def endpoints(plan: Plan) -> Iterator[Endpoint]:
    """Every model the plan is known to ask, subjects' and judges'."""
    for scenario in plan.scenarios:
        asking = [criterion.endpoint for criterion in scenario.criteria]
        if isinstance(scenario.subject, ModelSubject):
            asking.append(scenario.subject.endpoint)
        yield from (found for found in asking if found is not None)


def refuse_unpriced(asked: Iterable[Endpoint], budget: Budget) -> None:
    """What a budget cannot count is told before anybody is asked."""
    unknown = sorted({endpoint.model for endpoint in asked if not budget.knows(endpoint.model)})
    if unknown:
        fix = f'add to synthesis.toml: [prices."{unknown[0]}"] with input and output per million tokens'
        what = f"there is no price for {', '.join(map(shown, unknown))}"
        raise SynthesisError(what, where="--max-cost", fix=fix)


def _access(
    model: str | None, base_url: str | None, option: str, environment: Mapping[str, str]
) -> ModelAccess:
    try:
        if model is not None:
            split_name(model)
    except ValueError as error:
        fix = f"write for example {option} openai:gpt-4o-mini"
        raise SynthesisError(str(error), where=option, fix=fix) from error
    return ModelAccess(model, base_url, environment)


def _money(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        fix = "write for example --max-cost 2.50"
        raise SynthesisError(f'"{shown(text)}" is not an amount above 0', where="--max-cost", fix=fix)
    return value
