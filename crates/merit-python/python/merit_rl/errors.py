"""Errors, in merit's own words."""


class MeritError(Exception):
    """Something broke: a world, a tool, a file, or merit itself. Never the policy's doing, and never a reward.

    >>> import merit_rl
    >>> env = merit_rl.World("sums").open(merit_rl.World("sums").task())
    >>> try:
    ...     env.step("answer 7")
    ... except merit_rl.MeritError as error:
    ...     print(error)
    call `reset` before the first step
    """


class InputError(MeritError, ValueError):
    """The call cannot work as it is; the words say what, where and what to do.

    >>> import merit_rl
    >>> try:
    ...     merit_rl.Verifier("math")
    ... except merit_rl.InputError as error:
    ...     print(error)
    unknown verifier `math` (did you mean `maths`?)...
    """
