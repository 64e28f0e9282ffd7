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
    option: str = "--base-url"
    """What names a server on the command line."""
    override: bool = False
    """Whether `model` also replaces what scenarios bring themselves."""

    def endpoint(self, options: ModelOptions, place: Place) -> Endpoint:
        """Where to ask; raises what keeps it from being asked, before anything runs."""
        model = self._model(options, place)
        found = provider(split_name(model)[0])
        _refuse_own_keys(found, options, place / "extra_body")
        base_url = _checked(*self._base_url(options, model, place))
        key = self._key(model, base_url)
        lacks = self._lacks(found, base_url, key)
        if lacks is not None and not self.offline:
            # Not the place in the file: every scenario would say the same.
            raise SynthesisError(lacks[0], where=model, fix=lacks[1])
        said = "" if lacks is None else f"{lacks[0]}: {lacks[1]}"
        return Endpoint(model, base_url, key, self._hint(model, base_url), said)

    def refuse_strangers_choice(self, options: ModelOptions, place: Place) -> None:
        """A file from a stranger says neither whom we talk to nor what else is sent there."""
        if options.base_url is not None:
            fix = f"name the server with {self.option}, or run without --data-only"
            raise SynthesisError("a file names a server", where=place / "base_url", fix=fix)
        if options.extra_body:
            fix = "remove it, or run without --data-only"
            raise SynthesisError("a file adds to the request", where=place / "extra_body", fix=fix)

    def _model(self, options: ModelOptions, place: Place) -> str:
        model = self.model if self.override and self.model else options.model or self.model
        if not isinstance(model, str):
            fix = "name one in the file, with --model PROVIDER:NAME, or in SYNTHESIS_MODEL"
            raise SynthesisError("no model is named", where=place, fix=fix)
        return model

    def _base_url(self, options: ModelOptions, model: str, place: Place) -> tuple[str, Place | str]:
        """The server, and who named it."""
        if options.base_url is not None and not self.override:
            return options.base_url, place / "base_url"
        return self._named(model) or provider(split_name(model)[0]).base_url, model

    def _named(self, model: str) -> str | None:
        """The server that the person at the keyboard named for a model of this provider."""
        name = split_name(model)[0]
        ours = split_name(self.model or "openai:-")[0] == name
        return (self.base_url if ours else None) or self.environment.get(provider(name).url_variable)

    def _key(self, model: str, base_url: str) -> str | None:
        """Only for the provider's own host and for those that the person at the keyboard named."""
        found = provider(split_name(model)[0])
        trusted = (found.base_url, self._named(model), self.environment.get(found.url_variable))
        if _origin(base_url) not in {_origin(url) for url in trusted if url}:
            return None
        return self.environment.get(found.key_variable, "").strip() or None

    def _lacks(self, found: Provider, base_url: str, key: str | None) -> tuple[str, str] | None:
        """What is missing and how to mend it."""
        if find_spec("httpx2") is None:
            return "asking a model needs the extra [llm]", INSTALL
        if key is None and _origin(base_url) == _origin(found.base_url):
            fix = f"set {found.key_variable} in the environment, or name your own server with {self.option}"
            return f"{found.key_variable} is not set", fix
        if key is not None and not (key.isascii() and key.isprintable()):
            return f"{found.key_variable} holds characters that no key has", "copy the key again"
        return None

    def _hint(self, model: str, base_url: str) -> str:
        found = provider(split_name(model)[0])
        if self._key(model, base_url) is not None:
            return f"check {found.key_variable}"
        if self.environment.get(found.key_variable):
            return f"no key goes to a server that a file names: use {self.option}, or {found.url_variable}"
        return f"set {found.key_variable}"


def _refuse_own_keys(found: Provider, options: ModelOptions, place: Place) -> None:
    """Reports and prices go by the parameters that are named, transcripts by what was said."""
    taken = sorted(found.own_keys() & set(options.extra_body))
    if taken:
        names = ", ".join(f'"{key}"' for key in taken)
        fix = "remove it; what the request has a key for stands beside extra_body, not in it"
        raise SynthesisError(f"{names} is not for extra_body", where=place, fix=fix)


def _checked(base_url: str, where: Place | str) -> str:
    """Without a slash at its end; what could carry a secret or be no server is refused."""
    if any(mark in base_url for mark in "@?#"):
        fix = "give the server alone; keys come from the environment"
        raise SynthesisError("the server's URL has a name, a password or a query in it", where=where, fix=fix)
    if not _is_server(base_url):
        fix = "write for example http://127.0.0.1:8080/v1"
        raise SynthesisError(f'"{shown(base_url)}" is not the URL of a server', where=where, fix=fix)
    return base_url.rstrip("/")


def _is_server(base_url: str) -> bool:
    """White space and backslashes are read in one way here and in another where the request is made."""
    try:
        parts = urlsplit(base_url)
        reachable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return reachable and base_url.isprintable() and not any(mark in base_url for mark in " \\")


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
    return parts.scheme, parts.hostname, port
