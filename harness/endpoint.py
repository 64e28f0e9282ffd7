"""Which server a model is asked on, and whether a key may go there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from urllib.parse import urlsplit

from harness.errors import Place, SynthesisError
from harness.model import ModelOptions, split_name
from harness.problems import shown
from harness.provider import Provider, provider

INSTALL = "pip install 'synthesis-harness[llm]'"


@dataclass(frozen=True)
class Endpoint:
    """One model on one server; the key is in no text that this makes."""

    model: str
    base_url: str
    key: str | None = field(default=None, repr=False)
    hint: str = ""
    """What to do where the server wants another key than it got."""
    lacks: str = ""
    """What is missing before it can be asked; only where nothing was meant to be asked."""

    @property
    def provider(self) -> Provider:
        """How the server is spoken to."""
        return provider(split_name(self.model)[0])

    @property
    def name(self) -> str:
        """The model's name without its provider."""
        return split_name(self.model)[1]

    def identity(self) -> dict[str, str]:
        """What fingerprints keep of it: the server only where it is not the provider's own."""
        own = self.provider.base_url == self.base_url
        return {"model": self.model, **({} if own else {"base_url": self.base_url})}


@dataclass(frozen=True)
class ModelAccess:
    """What the command line and the environment say about models.

    `base_url` is for models of the same provider as `model`. Where it is `offline` nothing will be sent, so
    that no key and no HTTP library are needed.
    """

    model: str | None = None
    base_url: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    offline: bool = False
    override: bool = False
    """Whether `model` also replaces what scenarios bring themselves."""

    def endpoint(self, options: ModelOptions, place: Place) -> Endpoint:
        """Where to ask; raises what keeps it from being asked, before anything runs."""
        model = self._model(options, place)
        found = provider(split_name(model)[0])
        base_url = _checked(self._base_url(options, model, found), place)
        key = self._key(found, base_url)
        lacks = self._lacks(found, base_url, key)
        if lacks is not None and not self.offline:
            raise SynthesisError(lacks[0], where=place, fix=lacks[1])
        said = "" if lacks is None else f"{lacks[0]}: {lacks[1]}"
        return Endpoint(model, base_url, key, self._hint(found, base_url), said)

    def _model(self, options: ModelOptions, place: Place) -> str:
        model = self.model if self.override and self.model else options.model or self.model
        if not isinstance(model, str):
            fix = "name one in the file, with --model PROVIDER:NAME, or in SYNTHESIS_MODEL"
            raise SynthesisError("no model is named", where=place, fix=fix)
        return model

    def _base_url(self, options: ModelOptions, model: str, found: Provider) -> str:
        ours = split_name(self.model or "openai:-")[0] == split_name(model)[0]
        own = None if self.override else options.base_url
        given = own or (self.base_url if ours else None)
        return given or self.environment.get(found.url_variable) or found.base_url

    def _key(self, found: Provider, base_url: str) -> str | None:
        """Only for the provider's own host and for those that the person at the keyboard named."""
        trusted = (found.base_url, self.base_url, self.environment.get(found.url_variable))
        if _origin(base_url) not in {_origin(url) for url in trusted if url}:
            return None
        return self.environment.get(found.key_variable, "").strip() or None

    def _lacks(self, found: Provider, base_url: str, key: str | None) -> tuple[str, str] | None:
        """What is missing and how to mend it."""
        if find_spec("httpx2") is None:
            return "asking a model needs the extra [llm]", INSTALL
        if key is None and _origin(base_url) == _origin(found.base_url):
            fix = f"set {found.key_variable} in the environment, or name a server of your own with --base-url"
            return f"{found.key_variable} is not set", fix
        if key is not None and not (key.isascii() and key.isprintable()):
            return f"{found.key_variable} holds characters that no key has", "copy the key again"
        return None

    def _hint(self, found: Provider, base_url: str) -> str:
        if self._key(found, base_url) is not None:
            return f"check {found.key_variable}"
        if self.environment.get(found.key_variable):
            return f"no key goes to a server that a file names: use --base-url, or {found.url_variable}"
        return f"set {found.key_variable}"


def _checked(base_url: str, place: Place) -> str:
    """Without a slash at its end; what could carry a secret or be no server is refused."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        fix = "write for example http://127.0.0.1:8080/v1"
        raise SynthesisError(f'"{shown(base_url)}" is not the URL of a server', where=place, fix=fix)
    if parts.username or parts.password or parts.query or parts.fragment:
        fix = "give the server alone; keys come from the environment"
        raise SynthesisError("the server's URL has a name, a password or a query in it", where=place, fix=fix)
    return base_url.rstrip("/")


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
    return parts.scheme, parts.hostname, port
