"""What subjects share that a language model answers for."""

from hashlib import sha256
from typing import ClassVar, Self

from pydantic import PrivateAttr

from harness.attempt import Asker
from harness.endpoint import Endpoint
from harness.errors import Place
from harness.model import ModelOptions, ScriptedModel
from harness.speaker import ScriptedSpeaker, ServedSpeaker, Speaker
from harness.subject import Context, ScenarioFolder, Subject
from harness.transcript import Json


class ModelSubject(ModelOptions, Subject):
    """The model and its parameters are keys of the subject itself."""

    asks_model: ClassVar[bool] = True
    not_kept: ClassVar[tuple[str, ...]] = ()
    """Fields that an identity is to tell in a way of its own."""

    _endpoint: Endpoint | None = PrivateAttr(default=None)

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the model is asked; none for a script."""
        return self._endpoint

    def settle(self, folder: ScenarioFolder, place: Place) -> Self:
        """Find the server and the key, before anything runs."""
        if folder.confined:
            folder.access.refuse_strangers_choice(self, place)
        settled = self.model_copy()
        if folder.access.override or not isinstance(self.model, ScriptedModel):
            settled._endpoint = folder.access.endpoint(self, place)
        return settled

    def speaker(self, context: Context, asker: Asker) -> Speaker:
        """Who answers in one conversation."""
        if self._endpoint is not None:
            return ServedSpeaker(context.models, self._endpoint, self, asker)
        assert isinstance(self.model, ScriptedModel)  # `settle` has seen to it
        return ScriptedSpeaker.of(self.model, context.seed)

    def identity(self) -> dict[str, Json]:
        """Every parameter, and the model that is really asked."""
        left_out = {"request_timeout", "base_url", *self.not_kept}
        own = self.model_dump(mode="json", by_alias=True, exclude=left_out, exclude_defaults=True)
        return {"type": type(self).__module__.rpartition(".")[2], **own, **self._asked()}

    def _asked(self) -> dict[str, Json]:
        """A hash stands for a script: every transcript begins with this."""
        if self._endpoint is not None:
            return dict(self._endpoint.identity())
        assert isinstance(self.model, ScriptedModel)
        return {"model": {"scripted": sha256(self.model.model_dump_json().encode()).hexdigest()}}
