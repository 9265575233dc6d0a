"""Writes the answers of vLLM and SGLang beside this folder, by their own protocol classes.

    pip download --no-deps vllm==0.33.0 sglang==0.5.23      (unpack both wheels; they need no GPU to be read)
    python record/protocols.py vllm FOLDER && python record/protocols.py sglang FOLDER

FOLDER holds the unpacked wheel. Needs pydantic, openai and msgspec, nothing else of theirs (`stubs.py`). The words and numbers are made up; which
fields there are, how they are called and which are left out is decided by the servers' classes, dumped as their routers dump them: a whole
answer by `model_dump`, a chunk of vLLM with `exclude_unset`. The order of the chunks is that of their `serving` modules.
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


def vllm(folder):
    names = ["serve.engine", "generate.base", "openai.chat_completion"]
    engine, base, chat = stubs.loaded("vllm", folder, [f"vllm.entrypoints.{name}.protocol" for name in names])
    head = {"id": "chatcmpl-9d0c6a7be0f5420f", "created": 1794976801, "model": "Qwen/Qwen3-8B"}

    def usage(prompt, completion, cached, thought):
        told = engine.UsageInfo(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)
        told.prompt_tokens_details = engine.PromptTokenUsageInfo(cached_tokens=cached)
        told.completion_tokens_details = engine.CompletionTokenUsageInfo(reasoning_tokens=thought)
        return told

    def whole(message, finish, cost, **more):
        choice = chat.ChatCompletionResponseChoice(index=0, message=message, finish_reason=finish, token_ids=more.pop("token_ids", None))
        return chat.ChatCompletionResponse(choices=[choice], usage=cost, **more, **head).model_dump()

    write("vllm-plain.json", whole(chat.ChatMessage(role="assistant", reasoning="3 times 4", content="It is 12."), "stop", usage(21, 31, 16, 24)))
    call = base.ToolCall(id="chatcmpl-tool-3f5c", function=base.FunctionCall(name="weather", arguments=CITY))
    write("vllm-call.json", whole(chat.ChatMessage(role="assistant", tool_calls=[call]), "tool_calls", usage(180, 19, 176, 0)))
    spoken = chat.ChatMessage(role="assistant", content="It is 12.")
    write("vllm-tokens.json", whole(spoken, "stop", usage(3, 4, 0, 0), token_ids=[2132, 374, 220, 717], prompt_token_ids=[151644, 872, 198]))
    for name, error in {
        "vllm-error.json": engine.ErrorInfo(message="The model `gone` does not exist.", type="NotFoundError", param="model", code=404),
        "vllm-long.json": engine.ErrorInfo(
            message="This model's maximum context length is 8192 tokens. However, your prompt contains 9001 input tokens, which exceeds this "
            "limit even without any output tokens. Please reduce the length of the input prompt.",
            type="BadRequestError", param="input_tokens", code=400,
        ),
    }.items():  # fmt: skip
        write(name, engine.ErrorResponse(error=error).model_dump())

    def chunk(delta=None, finish=None, **more):
        choices = []
        if delta is not None:
            stop = {"stop_reason": None} if finish else {}
            choices = [chat.ChatCompletionResponseStreamChoice(index=0, delta=base.DeltaMessage(**delta), logprobs=None, finish_reason=finish, **stop)]
        piece = chat.ChatCompletionStreamResponse(object="chat.completion.chunk", choices=choices, **more, **head)
        return f"data: {piece.model_dump_json(exclude_unset=True, exclude_none=not choices)}\n\n"

    def called(arguments, **more):
        return {"tool_calls": [base.DeltaToolCall(index=0, function=base.DeltaFunctionCall(arguments=arguments, **more.pop("function", {})), **more)]}

    first = called("", id="chatcmpl-tool-9a", type="function", function={"name": "weather"})
    deltas = [{"role": "assistant", "content": ""}, *({"reasoning": said} for said in THOUGHT), *({"content": said} for said in WORDS), first]
    deltas += [called(part) for part in ('{"city": "', "Bonn")]
    stream = [chunk(delta) for delta in deltas] + [chunk(called('"}'), "tool_calls"), chunk(usage=usage(180, 30, 176, 6))]
    write("vllm-stream.txt", "".join(stream) + "data: [DONE]\n\n")


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
    {"vllm": vllm, "sglang": sglang}[sys.argv[1]](pathlib.Path(sys.argv[2]))
