"""A function of an episode, or a class with `score`, as a reward term. Read after worker.py."""

KEYS = {"value", "turns", "evidence", "parse_failure", "not_applicable"}
WANTED = "a number, None where it has nothing to say, or a dict with `value`"


class Served:
    def __init__(self, found):
        if inspect.isclass(found):
            scorer = made(found, START["settings"])
            if not callable(getattr(scorer, "score", None)):
                raise Unusable(f"the class `{START['module']}` has no `score`, which is called with each episode")
            self.score, self.settings = scorer.score, {}
        elif callable(found):
            self.score, self.settings = found, START["settings"]
        else:
            raise Unusable(f"`{START['module']}` is a {type(found).__name__}; name a function, or a class with `score`")
        can_be_called(self.score, START["module"], {}, **self.settings, **accepted(self.score, {"step": 0}))

    def answer(self, request):
        if request.get("op") == "describe":
            return {}
        episode = request["episode"]
        seed_everything(0)
        given = self.score(episode, **self.settings, **accepted(self.score, {"step": request["step"]}))
        return verdict(given)


def verdict(given):
    if given is None:
        return {"not_applicable": "the function has nothing to say of this episode"}
    if isinstance(given, dict):
        unknown = sorted(set(map(str, given)) - KEYS)
        if unknown:
            raise TypeError(f"its answer has the unknown key `{unknown[0]}`; there are {', '.join(sorted(KEYS))}")
        if given.get("value", 0) is None:
            return {"not_applicable": str(given.get("evidence", "the function has nothing to say of this episode"))}
        answer = {key: value for key, value in given.items() if value is not None}
        if "value" in answer:
            answer["value"] = number(answer["value"])
        elif not {"parse_failure", "not_applicable"} & set(answer):
            raise TypeError(f"its answer has no `value`; give {WANTED}")
        if "turns" in answer:
            answer["turns"] = [None if turn is None else number(turn) for turn in answer["turns"]]
        for key in ("evidence", "parse_failure", "not_applicable"):
            if key in answer:
                answer[key] = text_of(str(answer[key]))
        return answer
    return {"value": number(given)}


def number(given):
    if isinstance(given, (str, bytes)):
        raise TypeError(f"it gave the text {given[:40]!r}; give {WANTED}")
    try:
        value = float(given)
    except (TypeError, ValueError):
        raise TypeError(f"it gave a {type(given).__name__}; give {WANTED}") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"it gave {value}, which is no finite number")
    return value


serve()
