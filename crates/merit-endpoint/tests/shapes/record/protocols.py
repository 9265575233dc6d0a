"""Writes the answers of SGLang beside this folder, by its own protocol classes.

    pip download --no-deps sglang==0.5.23      (unpack the wheel; it needs no GPU to be read)
    python record/protocols.py FOLDER

FOLDER holds the unpacked wheel. Needs pydantic, openai and msgspec, nothing else (`stubs.py`). The words and numbers are made up; which fields there
are, how they are called and which are left out is decided by the server's classes, dumped as its router dumps them. The order of the chunks
is that of its `serving` module.
"""

import json
import pathlib
import sys

import stubs

OUT = pathlib.Path(__file__).resolve().parent.parent
CITY = '{"city": "Bonn"}'
THOUGHT, WORDS = ["Look ", "it up."], ["One ", "moment."]


def write(name, value):
    text = value if isinstance(value, str) else json.dumps(value, indent=1) + "\n"
    (OUT / name).write_text(text, encoding="utf-8")


def sglang(folder):
    names = ["protocol", "sse_utils", "usage_processor"]
    chat, sse, costs = stubs.loaded("sglang", folder, [f"sglang.srt.entrypoints.openai.{name}" for name in names])
    head = {"id": "a41be0d1c2f34b5f", "created": 1794976801, "model": "Qwen/Qwen3-8B"}

    def usage(prompt, completion, cached, thought):
        kept = chat.PromptTokensDetails(cached_tokens=cached)
        return costs.UsageProcessor.calculate_token_usage(prompt, completion, reasoning_tokens=thought, cached_tokens=kept)

    def whole(message, finish, cost, **more):
        matched = 151645 if finish == "stop" else None
        choice = chat.ChatCompletionResponseChoice(index=0, message=message, finish_reason=finish, matched_stop=matched, **more)
        return chat.ChatCompletionResponse(choices=[choice], usage=cost, metadata={"weight_version": "default"}, **head).model_dump()

    plain = chat.ChatMessage(role="assistant", content="It is 12.", reasoning_content="3 times 4")
    write("sglang-plain.json", whole(plain, "stop", usage(21, 31, 16, 24)))
    call = chat.ToolCall(id="call_5d0e", index=0, function=chat.FunctionResponse(name="weather", arguments=CITY))
    write("sglang-call.json", whole(chat.ChatMessage(role="assistant", content="", tool_calls=[call]), "tool_calls", usage(180, 19, 176, 0)))
    spoken = chat.ChatMessage(role="assistant", content="It is 12.")
    ids = {"response_token_ids": [2132, 374, 220, 717], "prompt_token_ids": [151644, 872, 198]}
    write("sglang-tokens.json", whole(spoken, "stop", usage(3, 4, 0, 0), **ids))
    long = "The input (9001 tokens) is longer than the model's context length (8192 tokens)."
    write("sglang-long.json", chat.ErrorResponse(message=long, type="BadRequestError", code=400).model_dump())
    wrong = "Tool 'weather' not found in tools list."
    write("sglang-error.json", chat.ErrorResponse(message=wrong, type="BadRequestError", code=400).model_dump())

    same = {"chunk_id": head["id"], "created": head["created"], "model": head["model"], "index": 0}

    def called(function, id=None):
        delta = chat.DeltaMessage(tool_calls=[chat.ToolCall(id=id, index=0, function=chat.FunctionResponse(**function))])
        choice = chat.ChatCompletionResponseStreamChoice(index=0, delta=delta, finish_reason=None)
        return f"data: {chat.ChatCompletionStreamResponse(choices=[choice], **head).model_dump_json()}\n\n"

    stream = [sse.build_sse_content(role="assistant", content="", **same)]
    stream += [sse.build_sse_content(reasoning_content=said, **same) for said in THOUGHT]
    stream += [sse.build_sse_content(content=said, **same) for said in WORDS]
    stream += [called({"name": "weather", "arguments": ""}, id="call_5d0e"), *(called({"name": None, "arguments": part}) for part in ('{"city": "', 'Bonn"}'))]
    stream += [sse.build_sse_content(finish_reason="tool_calls", matched_stop=None, **same)]
    last = chat.ChatCompletionStreamResponse(choices=[], usage=usage(180, 30, 176, 6), **head)
    stream += [f"data: {last.model_dump_json()}\n\n", "data: [DONE]\n\n"]
    write("sglang-stream.txt", "".join(part if isinstance(part, str) else part.decode() for part in stream))


if __name__ == "__main__":
    sglang(pathlib.Path(sys.argv[1]))
