"""Servers of OpenEnv as worlds: ``merit_rl.openenv:Env`` is a class for the world ``python``.

    [world]
    type = "python"
    module = "merit_rl.openenv:Env"
    settings = { url = "http://127.0.0.1:8000" }
    python = ".venv/bin/python"

An episode is a session of the server, held over its WebSocket ``/ws``: the plain routes ``/reset`` and ``/step`` make a new
environment for every request, so no episode can go over them. What the policy does wrong is told to the policy. Whatever the server does
wrong raises ``MeritError``, which is an infrastructure failure of the episode and never a reward.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import json
import math
import socket
import urllib.parse
from collections.abc import Mapping
from typing import Any

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect

from merit_rl.errors import InputError, MeritError

# As OpenEnv's own client has it.
_MOST_BYTES = 100 << 20


class Env:
    """An environment of a server. ``url`` is where it listens; a host that is not this machine takes ``remote=True``.

    ``action`` names the field of the action that the policy's text becomes, ``fields`` the others, which are the same in every action.
    Without ``action``, an action of one field gets the text there, and any other is a JSON object that the policy writes. ``observation`` names
    the one field of the observation that the policy is shown; without it, it is shown all. ``reset`` are keyword arguments of the server's
    ``reset`` beside the seed. With ``state`` the server's state is recorded with the episode. ``seconds`` is the time for every answer.

    ``URL`` is the address of a server of yours; this one echoes:

    >>> from merit_rl.openenv import Env
    >>> env = Env(URL, action="message", observation="echoed")
    >>> env.reset(seed=3)
    'say word3'
    >>> env.step("hello")
    ('hello', 0.25, False)
    """

    def __init__(
        self,
        url: str,
        *,
        action: str | None = None,
        fields: Mapping[str, Any] | None = None,
        observation: str | None = None,
        reset: Mapping[str, Any] | None = None,
        state: bool = False,
        remote: bool = False,
        seconds: float = 60.0,
    ) -> None:
        where = urllib.parse.urlsplit(url)
        if where.scheme not in ("http", "https", "ws", "wss") or not where.hostname:
            raise InputError(f"`url` is {url!r}; write it as http://127.0.0.1:8000")
        self.here = _is_here(where.hostname)
        if not self.here and not remote:
            raise InputError(f"{where.hostname} is not this machine; say `remote = true` to play with a server elsewhere")
        self.url, self.where, self.seconds = url, where, seconds
        self.fields, self.options, self.shown = fields or {}, reset or {}, observation
        self.session, self.opened, self.recorded = None, contextlib.ExitStack(), None
        self.field, self.kind = self._form(self._schema(), action)
        if state:
            self.state_to_record = lambda: self.recorded

    def reset(self, seed: int) -> Any:
        """A new session, and its first observation."""
        self._close()
        scheme, port = ("wss", 443) if self.where.scheme in ("https", "wss") else ("ws", 80)
        address = urllib.parse.urlunsplit(self.where._replace(scheme=scheme, path=self.where.path.rstrip("/") + "/ws"))
        options = {"open_timeout": self.seconds, "close_timeout": 1, "max_size": _MOST_BYTES, "compression": None}
        try:
            if self.here:
                # A socket of ours: neither a proxy nor a redirection leads away from this machine.
                options["sock"] = socket.create_connection((self.where.hostname, self.where.port or port), timeout=self.seconds)
            self.session = self.opened.enter_context(connect(address, **options))
        except (OSError, WebSocketException) as error:
            raise MeritError(f"no session of the OpenEnv server at {self.url}: {error}") from error
        return self._observed(self._ask("reset", {"seed": seed, **self.options}))

    def step(self, action: str) -> tuple[Any, float | None, bool]:
        """What came of what the policy said. A text that is no action raises ``ValueError`` and does nothing."""
        if self.session is None:
            raise MeritError("`step` without a session: the episode is over, or `reset` was not called")
        told = self._ask("step", self._action(action))
        reward, done = told.get("reward"), told.get("done")
        if not isinstance(done, bool) or not isinstance(reward, (bool, int, float, type(None))):
            raise self._nonsense(f"the reward {reward!r} and the end {done!r}")
        observation = self._observed(told)
        if done:
            # The session is free for another episode.
            self._close()
        return observation, None if reward is None else float(reward), done

    def _action(self, text):
        """The action that a text is."""
        if self.field is not None:
            return {self.field: _read(text, self.kind), **self.fields}
        written = _json(text)
        if not isinstance(written, dict):
            raise ValueError(f"write the action as a JSON object with {_listed(self.kind)}")
        return {**written, **self.fields}

    def _schema(self):
        """What the server says of its actions."""
        made = http.client.HTTPSConnection if self.where.scheme in ("https", "wss") else http.client.HTTPConnection
        line = made(self.where.hostname, self.where.port, timeout=self.seconds)
        try:
            line.request("GET", self.where.path.rstrip("/") + "/schema")
            answer = line.getresponse()
            said = answer.read(_MOST_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise MeritError(f"no OpenEnv server answers at {self.url}: {error}") from error
        finally:
            line.close()
        try:
            schema = json.loads(said)["action"] if answer.status == 200 else None
        except (ValueError, KeyError, TypeError):
            schema = None
        if not isinstance(schema, dict):
            raise MeritError(f"{self.url} is no OpenEnv server: `/schema` answered {answer.status} without the form of an action")
        return schema

    def _form(self, schema, wanted):
        """The field that a text becomes and its type; without one, the names of the fields that a policy writes."""
        properties = schema.get("properties") or {}
        self.known = known = [name for name in properties if name != "metadata"]
        if self.fields and not set(self.fields) <= set(known):
            unknown = min(set(self.fields) - set(known))
            raise InputError(f"an action has no field `{unknown}` for `fields`; it has {_listed(known)}")
        if wanted is None:
            free = [name for name in known if name not in self.fields]
            if len(free) != 1:
                return None, free
            [wanted] = free
        elif wanted not in known:
            raise InputError(f"an action has no field `{wanted}`; it has {_listed(known)}")
        missing = [name for name in schema.get("required") or [] if name != wanted and name not in self.fields]
        if missing:
            raise InputError(f"an action needs {_listed(missing)} beside `{wanted}`; give them by `fields`, or leave `action` out for JSON")
        return wanted, properties[wanted].get("type")

    def _observed(self, told):
        observation = told.get("observation")
        if not isinstance(observation, dict):
            raise self._nonsense("an answer without an observation")
        if hasattr(self, "state_to_record"):
            self.recorded = self._ask("state")
        if self.shown is None:
            return observation
        if self.shown not in observation:
            raise MeritError(f"the observation has no field `{self.shown}`; it has {_listed(observation)}")
        return observation[self.shown]

    def _ask(self, kind, data=None):
        message = {"type": kind} if data is None else {"type": kind, "data": data}
        try:
            # A server that ended the session has said why, and that is read all the same.
            with contextlib.suppress(ConnectionClosed):
                self.session.send(json.dumps(message))
            said = self.session.recv(timeout=self.seconds)
        except TimeoutError as error:
            self._close()
            raise MeritError(f"the OpenEnv server at {self.url} gave no answer to `{kind}` in {self.seconds:g} s") from error
        except (OSError, WebSocketException) as error:
            self._close()
            raise MeritError(f"the OpenEnv server at {self.url} is gone: {error}") from error
        try:
            answer = json.loads(said)
            answered, told = answer["type"], answer["data"]
        except (ValueError, KeyError, TypeError):
            raise self._nonsense("no message of the protocol") from None
        if answered == "error":
            raise self._failed(kind, data, told if isinstance(told, dict) else {})
        if not isinstance(told, dict):
            raise self._nonsense(f"a message `{answered}` without data")
        return told

    def _failed(self, kind, data, told):
        code, why = told.get("code"), told.get("message")
        errors = [error for error in told.get("errors") or [] if isinstance(error, dict)]
        # The server has the same word for an action that does not fit and for an observation of its own that does not.
        if code == "VALIDATION_ERROR" and kind == "step" and all(_first(error) in (None, *self.known, *data) for error in errors):
            words = [f"{'.'.join(map(str, error.get('loc') or ()))}: {error.get('msg')}" for error in errors]
            return ValueError("this is no action: " + ("; ".join(words) or "the environment refuses it"))
        self._close()
        if code == "CAPACITY_REACHED":
            return MeritError(f"the OpenEnv server at {self.url} has no free session ({why}); raise its `max_concurrent_envs`")
        return MeritError(f"the OpenEnv server at {self.url} failed on `{kind}`: {why} ({code})")

    def _nonsense(self, what):
        self._close()
        return MeritError(f"the OpenEnv server at {self.url} answered nonsense: {what}")

    def _close(self):
        session, self.session = self.session, None
        if session is not None:
            with contextlib.suppress(OSError, WebSocketException), self.opened:
                session.send('{"type": "close"}')
                # The server ends the connection once the session is free.
                session.recv(timeout=1)


def _is_here(host):
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listed(names):
    return ", ".join(f"`{name}`" for name in names) or "no fields"


def _first(error):
    """The field that an error is about; ``None``: the whole of it."""
    return (error.get("loc") or [None])[0]


def _json(text):
    """What a text says in JSON; ``None`` where it says nothing."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read(text, kind):
    """A text as a value of a type of JSON Schema."""
    if kind in ("integer", "number"):
        try:
            number = int(text) if kind == "integer" else float(text)
        except ValueError:
            number = math.inf
        if number in (math.inf, -math.inf) or number != number:
            raise ValueError("say a whole number" if kind == "integer" else "say a number")
        return number
    if kind in ("boolean", "array", "object"):
        value = _json(text)
        if value is None:
            raise ValueError("say true or false" if kind == "boolean" else f"write a JSON {kind}")
        return value
    return text
