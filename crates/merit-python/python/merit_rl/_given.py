"""What may be given, by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from merit_rl._merit import Reward

RewardSource = str | os.PathLike[str] | Mapping[str, Any] | Reward
"""A reward, or what makes one: a name, a path, TOML, or a dict."""

Rule = str | Mapping[str, Any]
"""A credit rule by its name, or with its settings."""

Policy = Callable[[list[dict[str, str]]], str]
"""A function of the messages so far that gives the next text."""
