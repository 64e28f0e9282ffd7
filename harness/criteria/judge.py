"""Let a language model score the run by a text that says what to look for."""

from collections.abc import Mapping
from dataclasses import replace
from statistics import mean, stdev
from typing import ClassVar, Self

from pydantic import (
    Field,
    PrivateAttr,
    StrictInt,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from harness.criterion import Criterion, CriterionStamp, Verdict
from harness.endpoint import Endpoint
from harness.errors import Place, SynthesisError
from harness.facts import RecordedAccess, ScenarioFacts
from harness.inquiry import Inquiry
from harness.judge_answer import AnswerReader, Reading
from harness.judge_prompt import judge_messages, prompt_hash, prompt_version, shown_transcript
from harness.judging import Judging
from harness.judgments import JudgeAnswer, Judgment, JudgmentKey, Judgments
from harness.model import ModelOptions, ScriptedModel, split_name
from harness.problems import shown
from harness.settings import CheckSettings
from harness.transcript import Json, Transcript

_NOT_ASKED = "not asked: no judgment is kept; add --ask-judges"
_JUDGE: TypeAdapter[str | ModelOptions | None] = TypeAdapter(str | ModelOptions | None)


class Judge(Criterion):
    """Gives 0 to its maximum; an answer that is no such score is an error, never a 0 and never clamped."""

    asks: ClassVar[bool] = True

    judge: str = Field(min_length=1, description="what to score, in words")
    judge_model: str | ModelOptions | None = Field(
        default=None, description="PROVIDER:NAME, or an object with parameters; the scenario's if left out"
    )
    judge_repeats: StrictInt = Field(
        default=1, ge=1, le=25, description="how often it is asked; the mean of the answers counts"
    )
    pass_at: float | None = Field(
        default=None,
        gt=0,
        strict=True,
        allow_inf_nan=False,
        description="points from which it passes; the maximum if left out",
    )

    _endpoint: Endpoint | None = PrivateAttr(default=None)

    @field_validator("judge_model")
    @classmethod
    def _known_provider(cls, model: str | ModelOptions | None) -> str | ModelOptions | None:
        if isinstance(model, str):
            split_name(model)
        return model

    @model_validator(mode="after")
    def _within_reach(self) -> Self:
        if self.pass_at is not None and self.pass_at > self.worth:
            raise ValueError(f'"pass_at" is {self.pass_at:g}, and there are {self.worth:g} points at most')
        return self

    @property
    def endpoint(self) -> Endpoint | None:
        """Where it is asked, once it is settled; none for a script."""
        return self._endpoint

    @property
    def model_name(self) -> str:
        """Who judges, once it is settled; a script has no name."""
        return "scripted" if self._endpoint is None else self._endpoint.model

    def settle(self, facts: ScenarioFacts, place: Place) -> Self:
        """The criterion's own model, else the scenario's, else the command line's; kept in its definition."""
        options = _chosen(self.judge_model, facts.judge_model, facts.judges.model)
        if options.model is None and isinstance(facts.judges, RecordedAccess):
            return self.model_copy(update={"judge_model": options})
        if options.model is None:
            fix = 'give it a "judge_model", or name one with --judge-model or in SYNTHESIS_JUDGE_MODEL'
            raise SynthesisError(f'no model judges "{shown(self.label)}"', where=place, fix=fix)
        if facts.confined:
            facts.judges.refuse_strangers_choice(options, place)
        if isinstance(options.model, ScriptedModel):
            return self.model_copy(update={"judge_model": options})
        endpoint = _endpoint(options, facts, place)
        options = options.model_copy(update=endpoint.identity())
        alone = options.model_fields_set == {"model"}
        settled = self.model_copy(update={"judge_model": endpoint.model if alone else options})
        settled._endpoint = endpoint
        return settled

    def settle_as(self, recorded: Mapping[str, Json], facts: ScenarioFacts, place: Place) -> Self:
        """Where nobody is named, whoever was asked then and on which server; parameters are today's."""
        if _chosen(self.judge_model).model is not None:
            return self
        try:
            then = _given(_JUDGE.validate_python(recorded.get("judge_model")))
        except ValidationError:
            then = {}
        asked = {name: value for name, value in then.items() if name in ("model", "base_url")}
        judge = ModelOptions.model_construct(_fields_set=set(asked), **asked)
        return self.settle(replace(facts, judge_model=judge), place)

    def stamp(self, settings: CheckSettings) -> CriterionStamp:
        """Who judges, and the version of the prompt."""
        return CriterionStamp(judges={self.model_name: prompt_version()})

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """What is recorded is not enough: somebody has to be asked."""
        return Verdict.error("the judge was not asked")

    async def ask(self, transcript: Transcript, judging: Judging) -> Verdict:
        """From what is kept of an earlier time, else from the model itself; only a whole judgment is kept."""
        options = self._options()
        data = shown_transcript(transcript)
        messages, reader = judge_messages(self.judge, self.worth, data), AnswerReader(self.worth, data)
        judge = options.parameters() | ({} if self._endpoint is None else self._endpoint.identity())
        key = JudgmentKey(transcript, messages, judge, reader, self.judge_repeats)
        kept = Judgments(judging.folder)
        judgment, problem = kept.load(key), None
        if judgment is None and self._endpoint is not None and not judging.ask:
            return Verdict.error(_NOT_ASKED)
        if judgment is None:
            inquiry = Inquiry(transcript, messages, options, self._endpoint, judging)
            problem = await inquiry.ask(self.judge_repeats, reader)
            judgment = inquiry.judgment()
            if problem is None:
                kept.save(key, judgment)
        found = self._verdict(judgment.readings(reader)) if problem is None else Verdict.error(problem)
        evidence = self._evidence(judgment, key, options)
        return found.model_copy(update={"evidence": evidence, "attempts": judgment.attempts})

    def _options(self) -> ModelOptions:
        """Asked once, a judge shall not be left to chance; `"temperature": null` leaves it to the server."""
        options = _chosen(self.judge_model)
        if self.judge_repeats > 1 or "temperature" in options.model_fields_set or self._endpoint is None:
            return options
        return options.model_copy(update={"temperature": 0.0})

    def _verdict(self, readings: tuple[Reading, ...]) -> Verdict:
        scores = [reading.score for reading in readings]
        points = mean(scores)
        telling = min(readings, key=lambda reading: abs(reading.score - points))
        given = f"{points:.6g} of {self.worth:g}"
        if len(scores) > 1:
            given = f"mean {given}, spread {stdev(scores):.3g} over {len(scores)} answers"
        return Verdict(
            status="passed" if points >= (self.pass_at or self.worth) else "failed",
            reason=f"{given}: {telling.reason}" if telling.reason else given,
            points=points,
        )

    def _evidence(self, judgment: Judgment, key: JudgmentKey, options: ModelOptions) -> dict[str, Json]:
        """The same whether it was asked now or before: nothing in it comes from the clock."""
        scores = [reading.score for reading in judgment.readings(key.reader)]
        parameters = {name: value for name, value in options.parameters().items() if name != "model"}
        return {
            "model": self.model_name,
            "parameters": parameters,
            "prompt": prompt_hash(key.messages),
            "answers": [_shown_answer(answer, key.reader) for answer in judgment.answers],
            "scores": scores,
            "mean": round(mean(scores), 6) if scores else None,
            "spread": round(stdev(scores), 6) if len(scores) > 1 else None,
            "attempts": list(judgment.attempts),
        }


def _chosen(*given: str | ModelOptions | None) -> ModelOptions:
    """The first that names a model; parameters that stand before it without one are laid over its own."""
    fields: dict[str, Json] = {}
    for options in given:
        fields = _given(options) | fields
        if "model" in fields:
            break
    return ModelOptions.model_construct(_fields_set=set(fields), **fields)


def _given(options: str | ModelOptions | None) -> dict[str, Json]:
    if options is None or isinstance(options, str):
        return {} if options is None else {"model": options}
    fields = {name: getattr(options, name) for name in sorted(options.model_fields_set)}
    return {name: value for name, value in fields.items() if (name, value) != ("model", None)}


def _endpoint(options: ModelOptions, facts: ScenarioFacts, place: Place) -> Endpoint:
    try:
        return facts.judges.endpoint(options, place)
    except ValueError as error:
        fix = "mend judge_model of the scenario, or --judge-model"
        raise SynthesisError(str(error), where=place, fix=fix) from error


def _shown_answer(answer: JudgeAnswer, reader: AnswerReader) -> dict[str, Json]:
    reading = reader.read(answer.text)
    found = {"score": reading.score} if isinstance(reading, Reading) else {"problem": reading}
    return {"repeat": answer.repeat, "try": answer.number, "text": answer.text, **found}
