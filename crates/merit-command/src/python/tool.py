"""A function, or a class whose objects can be called, as a tool. Read after worker.py."""

import typing

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", list: "array"}


class Served:
    def __init__(self, found):
        self.found, self.by_episode = found, inspect.isclass(found)
        if self.by_episode:
            call = found.__dict__.get("__call__") or getattr(found, "__call__", None)
            if not inspect.isfunction(call):
                raise Unusable(f"the class `{START['module']}` has no `__call__`, which is called by the agent")
            offered = accepted(found, {"task": None})
            can_be_called(found, START["module"], **START["settings"], **offered)
            self.spec = spec(found, call, list(inspect.signature(call).parameters.values())[1:], {})
        elif callable(found):
            parameters = list(inspect.signature(found).parameters.values())
            unknown = set(START["settings"]) - {parameter.name for parameter in parameters}
            if unknown:
                raise Unusable(f"`settings` has `{min(unknown)}`, which `{START['module']}` does not take")
            self.spec = spec(found, found, parameters, START["settings"])
        else:
            raise Unusable(f"`{START['module']}` is a {type(found).__name__}; name a function or a class")
        self.tool = None

    def answer(self, request):
        op = request["op"]
        if op == "describe":
            return {**self.spec, "by_episode": self.by_episode}
        if op == "open":
            seed_everything(request["seed"])
            self.tool = made(self.found, START["settings"], task=request["task"]) if self.by_episode else None
            return {}
        try:
            if self.by_episode:
                given = self.tool(**request["arguments"])
            else:
                given = self.found(**{**request["arguments"], **START["settings"]})
        except ValueError as error:
            return {"refused": text_of(str(error)) or "the tool refuses this input"}
        return {"output": shown(given)}


def shown(given):
    if isinstance(given, str):
        return text_of(given)
    if given is None:
        return "done"
    return json.dumps(given, default=unpacked, ensure_ascii=False, allow_nan=False)


def unpacked(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"the tool gave a {type(value).__name__}, which has no JSON form; give a text")


def spec(found, call, parameters, settings):
    """What the agent is told: name, first paragraph of the docstring, a JSON Schema of the parameters."""
    own = inspect.getdoc(call) if call is not found else None
    doc = own if own and own != object.__call__.__doc__ else inspect.getdoc(found)
    if not doc:
        raise Unusable(f"`{START['module']}` has no docstring; its first paragraph is what the agent is told")
    try:
        hints = typing.get_type_hints(call)
    except Exception as error:
        raise Unusable(f"the annotations of `{START['module']}` cannot be read: {error}") from None
    about, properties, required = described(doc), {}, []
    for parameter in parameters:
        name = parameter.name
        if name in settings:
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise Unusable(f"parameter `{parameter}` of `{START['module']}` has no name that an agent could give")
        if name not in hints:
            raise Unusable(f"parameter `{name}` of `{START['module']}` has no annotation; the agent is told its type")
        properties[name] = schema(hints[name], name)
        if name in about:
            properties[name]["description"] = about[name]
        if parameter.default is parameter.empty:
            required.append(name)
    summary = " ".join(doc.split("\n\n")[0].split("Args:")[0].split())
    whole = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    example = getattr(found, "example", None)
    return {"name": tool_name(found), "summary": summary, "schema": whole, "example": example}


def tool_name(found):
    name = getattr(found, "name", None) if inspect.isclass(found) else None
    if isinstance(name, str) and name:
        return name
    name = found.__name__ if hasattr(found, "__name__") else type(found).__name__
    return "".join(f"_{c.lower()}" if c.isupper() and at else c.lower() for at, c in enumerate(name))


def described(doc):
    """What the docstring says of single parameters, in Google's style."""
    found = {}
    for line in doc.partition("Args:")[2].splitlines():
        name, colon, about = line.strip().partition(":")
        name = name.split(" (")[0]
        if colon and name.isidentifier() and about.strip():
            found[name] = about.strip()
    return found


def schema(annotation, name):
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in PLAIN:
        return {"type": PLAIN[annotation]}
    if annotation is typing.Any:
        return {}
    if annotation is type(None):
        return {"type": "null"}
    if origin is typing.Literal:
        return {"enum": list(parts)}
    if origin is list:
        return {"type": "array", "items": schema(parts[0], name)}
    if origin is dict and parts[0] is str:
        return {"type": "object", "additionalProperties": schema(parts[1], name)}
    if origin is typing.Union or type(annotation).__name__ == "UnionType":
        return {"anyOf": [schema(part, name) for part in parts]}
    raise Unusable(
        f"parameter `{name}` of `{START['module']}` is annotated {annotation}, which has no JSON form; "
        f"use str, int, float, bool, list, dict, Literal, Optional or Any"
    )


serve()
