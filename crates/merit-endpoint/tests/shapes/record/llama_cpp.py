"""Records answers of llama.cpp's own server beside this folder.

    pip install xllamacpp==2026.10.11549      (llama.cpp's C++ server of build b11549 in a wheel)
    python record/llama_cpp.py smollm2-135m-instruct-q4_1.gguf      (`cargo xtask weights` fetches it)

The server runs on this machine and its bodies are written as they came, over HTTP. The model is too small to think or call by itself, so a
template of our own says how both are written (`chat.jinja`), a grammar gives the words of `-plain`, and the calls are copied from two turns
before. The recorded ids, times and counts are the server's.
"""

import json
import pathlib
import sys
import urllib.error
import urllib.request

import xllamacpp

HERE = pathlib.Path(__file__).resolve().parent
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "The weather of a city.", "parameters": CITY}}]
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bonn"}'}}
QUESTION = {"role": "user", "content": "How is the weather in Bonn?"}
TURN = [
    QUESTION,
    {"role": "assistant", "reasoning_content": "Look it up.", "content": "One moment.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    {"role": "assistant", "content": "It rains."},
]


def started(model):
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"smollm2-135m-instruct"}
    params.chat_template = (HERE / "chat.jinja").read_text(encoding="utf-8")
    params.use_jinja, params.n_parallel, params.n_ctx = True, 1, 2048
    params.hostnames, params.port = ["127.0.0.1"], 18412
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(params)


def asked(server, **body):
    body = json.dumps({"model": "smollm2-135m-instruct", "temperature": 0, "max_tokens": 60} | body).encode()
    request = urllib.request.Request(f"{server.listening_address}/v1/chat/completions", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as response:
            return response.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()


def main():
    server = started(sys.argv[1])
    said = 'root ::= "<think>\\n3 times 4\\n</think>\\n\\nIt is 12."'
    sums = [{"role": "user", "content": "What is 3 times 4?"}]
    # A prompt that is read anew gives the same words each time; the sum is asked twice, so that something was kept.
    talk = {"messages": [*TURN, *TURN, QUESTION], "tools": TOOLS, "cache_prompt": False}
    asked(server, messages=sums, grammar=said)
    recorded = {
        "plain.json": asked(server, messages=sums, grammar=said),
        "call.json": asked(server, **talk),
        "stream.txt": asked(server, **talk, stream=True, stream_options={"include_usage": True}),
        "cut.json": asked(server, messages=sums, max_tokens=3, logprobs=True, top_logprobs=2, return_tokens=True),
        "long.json": asked(server, messages=[{"role": "user", "content": "word " * 5000}]),
        "error.json": asked(server, messages="none"),
    }
    for name, text in recorded.items():
        text = json.dumps(json.loads(text), indent=1) + "\n" if name.endswith(".json") else text
        (HERE.parent / f"llama-cpp-{name}").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
