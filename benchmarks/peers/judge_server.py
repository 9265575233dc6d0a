"""A local OpenAI-compatible server that judges with known errors, for `judges.py`. Only the standard library.

    python benchmarks/peers/judge_server.py PAIRS.json [--latency-ms 20] [--faults SHARE]

PAIRS is a list of {"prompt", "chosen", "rejected"}; every candidate begins with `[ref 0123abcd]`, by which the server knows it. One
candidate in a question: a grade from 0 to 10, of the better one 4 to 10 and of the worse one 1 to 7, by a hash of its mark, so that
every side hears the same. Two: which is better, right about 80 % of the time. The answer has the form that is asked for: arguments of
the tool that is offered, the JSON of the schema that is sent, or the JSON object that the words ask for.

With `--faults` each of five things happens to this share of the questions: `429`, `500` and `reset` to the first request only, so that
asking again helps; `refused` and `malformed` whenever it is asked. A token is four characters. `GET /stats` tells requests, answers, answers to a
question that had been answered before, tokens, and what went wrong how often. The port is printed first.
"""

import argparse
import asyncio
import hashlib
import json
import pathlib
import re

MARK = re.compile(r"\[ref ([0-9a-f]{8})\]")
FAULTS = ("429", "500", "reset", "refused", "malformed")


def chance(*parts):
    """A number from 0 to 1 that depends on the parts alone."""
    return int.from_bytes(hashlib.sha256("/".join(parts).encode()).digest()[:6], "big") / 2**48


def marks(pairs):
    """Whether the candidate of each mark is the better one of its pair."""
    found = {}
    for pair in pairs:
        for side in ("chosen", "rejected"):
            found[MARK.match(pair[side]).group(1)] = side == "chosen"
    return found


def grade(mark, better):
    return int(chance("grade", mark) * 7) + (4 if better[mark] else 1)


def choice(first, second, better):
    right = 1 if better[first] else 2
    return right if chance("choice", first, second) < 0.8 else 3 - right


class Judge:
    def __init__(self, pairs, latency, faults):
        self.better, self.latency, self.faults = marks(pairs), latency, faults
        self.seen, self.answered = set(), set()
        self.stats = {"requests": 0, "answers": 0, "paid_again": 0, "prompt_tokens": 0, "completion_tokens": 0}
        self.stats |= {fault: 0 for fault in FAULTS}

    def fault_of(self, asked):
        """What goes wrong with this question, if anything; the same for every side."""
        drawn = chance("fault", *asked)
        at = int(drawn / self.faults) if self.faults else len(FAULTS)
        return FAULTS[at] if at < len(FAULTS) else None

    def reply(self, body):
        """Status, what to send and what it is about, or None to break the connection."""
        self.stats["requests"] += 1
        said = "\n".join(str(message["content"]) for message in body["messages"])
        asked = tuple(dict.fromkeys(MARK.findall(said)))
        fault = self.fault_of(asked)
        if fault in ("429", "500", "reset"):
            if asked in self.seen:
                fault = None
            else:
                self.seen.add(asked)
                self.stats[fault] += 1
                if fault == "reset":
                    return None
                return int(fault), {"error": {"message": "try again", "type": "server_error", "code": int(fault)}}, asked
        if fault:
            self.stats[fault] += 1
        return 200, self.answer(body, said, asked, fault), asked

    def sent(self, asked, usage):
        """An answer is paid for when it is sent, whether or not somebody is there to hear it."""
        for name in ("prompt_tokens", "completion_tokens"):
            self.stats[name] += usage[name]
        self.stats["answers"] += 1
        self.stats["paid_again"] += asked in self.answered
        self.answered.add(asked)

    def answer(self, body, said, asked, fault):
        message = {"role": "assistant", "content": None}
        if fault == "refused":
            message["content"] = "I'm sorry, but I can't judge this."
        elif fault == "malformed":
            message["content"] = "Both have something to be said for them, and much depends on taste."
        elif body.get("tools"):
            tool = body["tools"][0]["function"]
            told = json.dumps(self.filled(tool["parameters"], said, asked))
            call = {"id": "call_1", "type": "function", "function": {"name": tool["name"], "arguments": told}}
            message["tool_calls"] = [call]
        elif "json_schema" in body.get("response_format", {}):
            message["content"] = json.dumps(self.filled(body["response_format"]["json_schema"]["schema"], said, asked))
        elif len(asked) == 1:
            message["content"] = json.dumps({"reason": "as it is", "score": grade(asked[0], self.better)})
        else:
            message["content"] = json.dumps({"reason": "as they are", "better": choice(*asked[:2], self.better)})
        drawn = message["content"] or message["tool_calls"][0]["function"]["arguments"]
        extra = [body[name] for name in ("tools", "response_format") if name in body]
        usage = {"prompt_tokens": (len(said) + sum(len(json.dumps(one)) for one in extra)) // 4, "completion_tokens": len(drawn) // 4}
        finish = "tool_calls" if "tool_calls" in message else "stop"
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": usage | {"total_tokens": sum(usage.values())},
        }  # fmt: skip

    def filled(self, schema, said, asked, name=""):
        """A value of the schema; where a number is wanted, the grade."""
        schema = self.resolved(schema)
        if "properties" in schema:
            return {key: self.filled(inner | {"$defs": schema.get("$defs", {})}, said, asked, key) for key, inner in schema["properties"].items()}
        given = grade(asked[0], self.better)
        if name == "selected_option":
            # The options stand in any order; the one that is the grade is looked for.
            return next(int(number) for number, label in re.findall(r"^\s*(\d+)[.)]\s*(\S+)", said, re.M) if label.strip("\"'") == f"grade-{given}")
        kind = schema.get("type")
        if kind in ("number", "integer"):
            return given if name != "confidence" else 0.8
        if kind == "array":
            return []
        if kind == "boolean":
            return given >= 6
        return (schema.get("enum") or ["as it is"])[0]

    @staticmethod
    def resolved(schema):
        while "$ref" in schema or "anyOf" in schema:
            defs = schema.get("$defs", {})
            schema = defs[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema["anyOf"][0]
            schema = schema | {"$defs": defs}
        return schema


def events(answer):
    """The answer as a stream of two pieces and its cost."""
    choice = answer["choices"][0]
    delta = dict(choice["message"])
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": at} | call for at, call in enumerate(delta["tool_calls"])]
    head = {"id": answer["id"], "object": "chat.completion.chunk", "created": 1, "model": answer["model"]}
    pieces = [
        head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        head | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        head | {"choices": [], "usage": answer["usage"]},
    ]
    return "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"


async def serve(judge, reader, writer):
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            line, *rest = head.decode().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in rest)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            if line.startswith("GET"):
                listed = {"object": "list", "data": [{"id": "judge", "object": "model"}]}
                status, told = 200, judge.stats if "/stats" in line else listed
            else:
                reply = judge.reply(json.loads(body))
                await asyncio.sleep(judge.latency)
                if reply is None:
                    break
                status, told, asked = reply
                if status == 200:
                    judge.sent(asked, told["usage"])
            streamed = status == 200 and line.startswith("POST") and json.loads(body).get("stream")
            text, kind = (events(told), "text/event-stream") if streamed else (json.dumps(told), "application/json")
            text = text.encode()
            writer.write(f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("pairs", type=pathlib.Path)
    args.add_argument("--latency-ms", type=float, default=20)
    args.add_argument("--faults", type=float, default=0.0)
    args = args.parse_args()
    judge = Judge(json.loads(args.pairs.read_text(encoding="utf-8")), args.latency_ms / 1000, args.faults)
    server = await asyncio.start_server(lambda reader, writer: serve(judge, reader, writer), "127.0.0.1", 0, limit=1 << 24)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
