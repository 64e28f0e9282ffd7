"""A way to reach a model: how a question is put, how an answer is read. No network in here."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler

from harness import plugins
from harness.model import Answer, Message, ModelOptions, Question, Tool
from harness.problems import first_mistake
from harness.transcript import Json

_EVERYTHING = Question(
    (Message("system", "s"), Message("user", "u")),
    ModelOptions(temperature=0, max_tokens=1, stop=("x",)),
    (Tool("t", "d", {"type": "object"}),),
    seed=1,
)
"""A question that fills every key of a request."""
_SPLITTING = frozenset({"stream", "n"})


class Provider(ABC):
    """One file each; the file name is what stands before the colon in `--model`."""

    base_url: ClassVar[str]
    """Where it is served unless something else is said."""
    key_variable: ClassVar[str]
    """The environment variable its key is in."""
    url_variable: ClassVar[str]
    """The environment variable that names another server."""
    path: ClassVar[str]
    """What comes after the base URL."""

    def url(self, base_url: str) -> str:
        """Where a question goes."""
        return base_url + self.path

    @abstractmethod
    def headers(self, key: str | None) -> dict[str, str]:
        """With the key where there is one to send."""

    @abstractmethod
    def body(self, question: Question, name: str) -> dict[str, Json]:
        """The request, `name` being the model's name without its provider."""

    def own_keys(self) -> frozenset[str]:
        """What `extra_body` may not hold: the keys that `body` sets, and those that split an answer."""
        return frozenset(self.body(_EVERYTHING, "m")) | _SPLITTING

    @abstractmethod
    def read(self, payload: Json) -> Answer:
        """The answer in a response; raises ValueError where it is none."""


def provider(name: str) -> Provider:
    """The provider that lives in `providers/<name>.py`."""
    kind: type[Provider] = plugins.only_class("providers", name, Provider)
    return kind()


class Payload(BaseModel):
    """A part of a server's response: what we read of it is checked, the rest is left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def none_if_unreadable(value: Json, read: ValidatorFunctionWrapHandler) -> Any:
    """For what a server counts: an answer is not lost because its tokens cannot be read."""
    try:
        return read(value)
    except ValidationError:
        return None


def what_is_wrong(error: ValidationError) -> str:
    """The first thing a response lacks, in a few words."""
    spot, what = first_mistake(error)
    return f'the answer\'s "{spot}": {what}'
