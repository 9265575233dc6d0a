"""Errors, in merit's own words."""


class MeritError(Exception):
    """Something broke: a world, a tool, a file. Never the policy's doing, and never a reward."""


class InputError(MeritError, ValueError):
    """The call cannot work as it is; the words say what, where and what to do."""
