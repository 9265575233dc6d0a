"""A class with `reset` and `step`, Gymnasium's or a plain one, as a world. Read after worker.py."""

MOST_CHARS = 8000
STEP = "`step` must give (observation, reward, terminated, truncated, info), or (observation, reward, done)"


class Served:
    def __init__(self, factory):
        self.factory = factory
        self.env = self.make()
        for method in ("reset", "step"):
            if not callable(getattr(self.env, method, None)):
                raise Unusable(f"`{START['module']}` gives a {type(self.env).__name__}, which has no `{method}`")
        can_be_called(self.env.step, "step", "an action")
        # Listed once: a class whose tasks change between two processes would be another world in each.
        self.tasks = plain(list(self.env.tasks())) if callable(getattr(self.env, "tasks", None)) else None
        sample = {"seed": 0} if self.tasks is None else {"seed": 0, "task": None, "options": {}}
        takes = accepted(self.env.reset, sample)
        can_be_called(self.env.reset, "reset", **takes)
        if self.tasks is not None and not {"task", "options"} & set(takes):
            raise Unusable(f"`{START['module']}` has `tasks`, so `reset` must take `task`, or Gymnasium's `options`")
        if self.tasks is None and "seed" not in takes:
            raise Unusable(f"`reset` of `{START['module']}` must take `seed`, or the class must list its `tasks`")
        reader(self.env)

    def make(self):
        return made(self.factory, START["settings"])

    def fresh(self):
        self.env = self.make() if self.env is None else self.env
        return self.env

    def answer(self, request):
        try:
            return getattr(self, request["op"])(request)
        except BaseException:
            # Who knows what is left of it: the next episode gets a fresh one.
            self.env = None
            raise

    def describe(self, _):
        return {"tasks": self.tasks, "expert": callable(getattr(self.env, "expert", None))}

    def reset(self, request):
        env, task, seed = self.fresh(), request["task"], request["seed"]
        if self.tasks is None:
            seed = task["seed"]
            offered = {"seed": seed}
        else:
            offered = {"seed": seed, "task": task, "options": {"task": task}}
        seed_everything(seed)
        given = env.reset(**accepted(env.reset, offered))
        if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], dict):
            given = given[0]
        return {"observations": [compact(given)], **self.state()}

    def step(self, request):
        text = request["action"]
        takes_text = getattr(self.env, "action_space", None) is None and not hasattr(self.env, "parse")
        try:
            action = reader(self.env)(text)
        except ValueError as error:
            return self.no_action(error)
        try:
            given = self.env.step(action)
        except ValueError as error:
            if not takes_text:
                raise
            return self.no_action(error)
        observation, reward, terminated, truncated, info = five(given)
        return {
            "observations": [compact(observation)],
            "reward": None if reward is None else float(reward),
            "terminated": bool(terminated),
            "truncated": bool(truncated),
            "info": numbers(info),
            **self.state(),
        }

    def expert(self, request):
        offered = {key: request[key] for key in ("task", "turns", "p_correct", "seed")}
        expert = self.fresh().expert
        return {"say": text_of(str(expert(**accepted(expert, offered))))}

    def no_action(self, error):
        """The policy's doing, so it is told and nothing happens."""
        words = " ".join(str(error).split())[:300] or "this is no action"
        return {"observations": [text_of(words)], **self.state()}

    def state(self):
        state = getattr(self.env, "state_to_record", None)
        return {"state": plain(state())} if callable(state) else {}


def five(given):
    if isinstance(given, tuple):
        if len(given) == 5:
            return given
        if len(given) == 4:
            return given[0], given[1], given[2], False, given[3]
        if len(given) == 3:
            return given[0], given[1], given[2], False, {}
        raise TypeError(f"{STEP}; it gave {len(given)} values")
    raise TypeError(f"{STEP}; it gave a {type(given).__name__}")


def numbers(info):
    """The numbers of an info; what is no number, or not finite, is not recorded."""
    found = {}
    for name, value in (info or {}).items():
        value = item(value)
        if isinstance(value, (bool, int, float)) and abs(value) < 1e300:
            found[str(name)] = float(value)
    return found


def item(value):
    """A plain value where a package has its own kind of number."""
    if hasattr(value, "tolist") and getattr(value, "shape", None) == ():
        return value.tolist()
    return value


def plain(value):
    """The same in JSON's own types."""
    return json.loads(json.dumps(value, default=unpacked, allow_nan=False))


def unpacked(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def compact(observation):
    """An observation as text: texts as they are, numbers to four digits."""
    if isinstance(observation, str):
        text = observation
    elif isinstance(observation, dict):
        text = "\n".join(f"{name}: {short(value)}" for name, value in observation.items())
    elif observation is None:
        text = ""
    else:
        text = short(observation)
    if len(text) > MOST_CHARS:
        text = f"{text[:MOST_CHARS]}… ({len(text) - MOST_CHARS} more characters)"
    return text_of(text)


def short(value):
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return str(value)
    if isinstance(value, float):
        # 0.01234 and not 0.0123400001, 12345.68 and not 1.235e+04.
        digits = f"{value:.2f}" if 100 <= abs(value) < 1e9 else f"{value:.4g}"
        digits = digits.rstrip("0").rstrip(".") if "." in digits and "e" not in digits else digits
        return "0" if digits == "-0" else digits
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {short(part)}" for name, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(short(part) for part in value) + "]"
    return str(value)


def reader(env):
    """What turns a text into an action. A text that is none is a ValueError in words for the policy."""
    if callable(getattr(env, "parse", None)):
        return env.parse
    space = getattr(env, "action_space", None)
    if space is None:
        return lambda text: text
    kind = type(space).__name__
    if kind not in SPACES:
        known = ", ".join(SPACES)
        raise Unusable(
            f"the action space {space} has no text form (those of {known} have); "
            f"give the class a method `parse(text)` that makes an action of a text"
        )
    return lambda text: SPACES[kind](space, text.strip())


def discrete(space, text):
    first, last = int(space.start), int(space.start) + int(space.n) - 1
    try:
        chosen = int(text)
    except ValueError:
        chosen = None
    if chosen is None or not first <= chosen <= last:
        raise ValueError(f"say a whole number from {first} to {last}")
    return chosen


def numbers_in(text, kind, wanted, words):
    try:
        found = [kind(word) for word in text.strip("[]() ").replace(",", " ").split()]
    except (ValueError, OverflowError):
        found = []
    if len(found) != wanted:
        raise ValueError(words)
    return found


def shaped(space, found):
    import numpy

    return numpy.array(found, dtype=space.dtype).reshape(space.shape)


def box(space, text):
    count = 1
    for size in space.shape:
        count *= int(size)
    lows, highs = space.low.flatten().tolist(), space.high.flatten().tolist()
    ranges = [f"{short(low)} to {short(high)}" for low, high in zip(lows, highs)]
    if count == 1:
        words = f"say a number from {ranges[0]}"
    elif len(set(ranges)) == 1:
        words = f"say {count} numbers, each from {ranges[0]}"
    else:
        words = f"say {count} numbers: {', '.join(ranges[:16])}"
    kind = int if space.dtype.kind in "iu" else float
    found = numbers_in(text, kind, count, words)
    if not all(low <= number <= high and abs(number) < 1e300 for number, low, high in zip(found, lows, highs)):
        raise ValueError(words)
    return shaped(space, found)


def multi_discrete(space, text):
    sizes = [int(size) for size in space.nvec.flatten()]
    starts = [int(start) for start in getattr(space, "start", space.nvec * 0).flatten()]
    ranges = ", ".join(f"{start} to {start + size - 1}" for start, size in zip(starts, sizes))
    words = f"say {len(sizes)} whole numbers: {ranges}"
    found = numbers_in(text, int, len(sizes), words)
    if not all(start <= number < start + size for number, start, size in zip(found, starts, sizes)):
        raise ValueError(words)
    return shaped(space, found)


def multi_binary(space, text):
    count = 1
    for size in space.shape:
        count *= int(size)
    words = f"say {count} numbers, each 0 or 1"
    found = numbers_in(text, int, count, words)
    if not all(number in (0, 1) for number in found):
        raise ValueError(words)
    return shaped(space, found)


def written(space, text):
    if not space.contains(text):
        raise ValueError(f"say a text of {space.min_length} to {space.max_length} of the characters that are allowed")
    return text


SPACES = {
    "Discrete": discrete,
    "Box": box,
    "MultiDiscrete": multi_discrete,
    "MultiBinary": multi_binary,
    "Text": written,
}
serve()
