"""Records the answers of a running server beside this folder, over HTTP.

    python record/server.py http://127.0.0.1:8000/v1 vllm MODEL

The last two are the start of the files' names and the model as the server calls it. Bodies are written as they came; only the layout of the
JSON is ours. The model may be too small to think or call by itself: every conversation shows two turns that it can copy.
"""

import json
import pathlib
import sys
import urllib.error
import urllib.request

OUT = pathlib.Path(__file__).resolve().parent.parent
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "The weather of a city.", "parameters": CITY}}]
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bonn"}'}}
NAMED = {"type": "function", "function": {"name": "weather"}}
WEATHER = {"role": "user", "content": "How is the weather in Bonn?"}
SUM = {"role": "user", "content": "What is 3 times 4?"}
# A turn's thought stands in its words as the template writes it: not every server hands on the thoughts of past turns.
SUMS = [SUM, {"role": "assistant", "content": "<think>\n3 times 4\n</think>\n\nIt is 12."}] * 2 + [SUM]
LOOKED_UP = {"role": "assistant", "content": "<think>\nLook it up.\n</think>\n\nOne moment.", "tool_calls": [CALL]}
TALK = {"messages": [WEATHER, LOOKED_UP] * 2 + [WEATHER], "tools": TOOLS}
BRIEF = {"messages": [SUM], "max_tokens": 4, "logprobs": True, "top_logprobs": 2}
TEXT = {"prompt": "One, two, three,", "max_tokens": 4, "logprobs": 2}
# What asks for token ids, and for the scores of the prompt where there are any.
IDS = {"vllm": {"return_token_ids": True}, "sglang": {"return_token_ids": True}, "llama-cpp": {"return_tokens": True}}
# What asks for thoughts, where they are not the default.
THINK = {"ollama": {"reasoning_effort": "medium"}}
PROMPT = {"vllm": {"prompt_logprobs": 1}}
# Servers that can stop at a token.
STOP = {"vllm": {"stop_token_ids": [216]}, "sglang": {"stop_token_ids": [216]}}


def asked(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as response:
            return response.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()


def requests(name):
    """File, path and body of every answer."""
    ids, think = IDS.get(name, {}), THINK.get(name, {})
    # SGLang tells the ids of a conversation only at once.
    streamed_ids = {} if name == "sglang" else ids
    pieces = {"stream": True, "stream_options": {"include_usage": True}}
    for file, path, body in [
        ("talk.json", "chat/completions", TALK | think),
        ("stream.txt", "chat/completions", TALK | think),
        ("named.json", "chat/completions", TALK | {"tool_choice": NAMED}),
        ("named-stream.txt", "chat/completions", TALK | {"tool_choice": NAMED}),
        ("tokens.json", "chat/completions", BRIEF | ids),
        ("tokens-stream.txt", "chat/completions", BRIEF | streamed_ids),
        ("text.json", "completions", TEXT | ids),
        ("text-stream.txt", "completions", TEXT | ids),
    ]:
        yield file, path, body | (pieces if file.endswith(".txt") else {})
    yield "plain.json", "chat/completions", {"messages": SUMS} | think
    yield "call.json", "chat/completions", TALK | {"tool_choice": "required"}
    if name in PROMPT:
        yield "prompt.json", "chat/completions", BRIEF | ids | PROMPT[name]
    if name in STOP:
        yield "stop.json", "chat/completions", {"messages": [SUM]} | STOP[name]
    yield "choices.json", "chat/completions", {"messages": [SUM], "n": 2, "max_tokens": 4, "temperature": 1, "seed": 1}
    yield "long.json", "chat/completions", {"messages": [{"role": "user", "content": "word " * 5000}]}
    yield "gone.json", "chat/completions", {"messages": [SUM], "model": "gone"}
    # To this SGLang names a file of the machine it runs on.
    if name != "sglang":
        yield "wrong.json", "chat/completions", {"messages": "none"}


def record(url, name, model):
    for file, path, body in requests(name):
        write(f"{name}-{file}", asked(f"{url}/{path}", {"model": model, "temperature": 0, "max_tokens": 60} | body))
    write(f"{name}-models.json", asked(f"{url}/models"))


def write(file, text):
    text = json.dumps(json.loads(text), indent=1) + "\n" if file.endswith(".json") else text
    (OUT / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    record(*sys.argv[1:])
