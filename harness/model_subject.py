"""What subjects share that a language model answers for."""

from typing import ClassVar, Self

from pydantic import PrivateAttr

from harness.attempt import Asker
from harness.endpoint import Endpoint
from harness.errors import Place, SynthesisError
from harness.model import ModelOptions, ScriptedModel
from harness.speaker import ScriptedSpeaker, ServedSpeaker, Speaker
from harness.subject import Context, ScenarioFolder, Subject
from harness.transcript import Json


class ModelSubject(ModelOptions, Subject):
    """The model and its parameters are keys of the subject itself."""

    asks_model: ClassVar[bool] = True

    _endpoint: Endpoint | None = PrivateAttr(default=None)

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the model is asked; none for a script."""
        return self._endpoint

    def settle(self, folder: ScenarioFolder, place: Place) -> Self:
        """Find the server and the key, before anything runs."""
        refuse_named_server(self, folder, place)
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
        own = self.model_dump(mode="json", exclude={"request_timeout", "base_url"}, exclude_defaults=True)
        asked = {} if self._endpoint is None else self._endpoint.identity()
        return {"type": type(self).__module__.rpartition(".")[2], **own, **asked}


def refuse_named_server(options: ModelOptions, folder: ScenarioFolder, place: Place) -> None:
    """A file from a stranger does not choose whom we talk to."""
    if folder.confined and options.base_url is not None:
        fix = "name the server with --base-url, or run without --data-only"
        raise SynthesisError("a file names a server", where=place / "base_url", fix=fix)
