"""Do greedy continuations agree with llama.cpp's? Reads what merit said and asks llama.cpp for its choice at every place.

    merit generate MODEL.gguf --input PROMPTS.jsonl --output SAID.jsonl --temperature 0 --max-tokens 32
    .cache/llama/bin/python benchmarks/agreement/greedy.py MODEL.gguf PROMPTS.jsonl SAID.jsonl [--threads 1]

A line of the prompts has `prompt`. llama.cpp tokenises the prompt itself, reads it and merit's tokens behind it, and says at every place
which token it would have taken. Up to the first difference this is its own greedy continuation. The last line of the output sums up:
continuations that are the same, choices made until the first difference of each, and how much larger llama.cpp's logit of its own choice is there.
"""

import argparse
import ctypes
import json

import llama_cpp as lib
import numpy


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("model")
    args.add_argument("prompts")
    args.add_argument("said")
    args.add_argument("--threads", type=int, default=1)
    args = args.parse_args()
    quiet = lib.llama_log_callback(lambda *_: None)
    lib.llama_log_set(quiet, ctypes.c_void_p())
    lib.llama_backend_init()
    params = lib.llama_model_default_params()
    params.n_gpu_layers = 0
    model = lib.llama_model_load_from_file(args.model.encode(), params)
    if not model:
        raise SystemExit(f"llama.cpp cannot load {args.model}")
    same, choices, gaps = 0, 0, []
    with open(args.prompts, encoding="utf-8") as prompts, open(args.said, encoding="utf-8") as said:
        pairs = [(json.loads(a)["prompt"], json.loads(b)["tokens"]) for a, b in zip(prompts, said, strict=True)]
    for number, (prompt, tokens) in enumerate(pairs, start=1):
        gap, place = first_difference(args, model, prompt, tokens)
        choices += place
        if gap is None:
            same += 1
        else:
            gaps.append(gap)
            print(json.dumps({"line": number, "place": place, "gap": round(gap, 5)}))
    print(json.dumps({"prompts": len(pairs), "same": same, "choices": choices, "gaps": sorted(round(g, 4) for g in gaps)}))


def first_difference(args, model, prompt, tokens):
    vocab = lib.llama_model_get_vocab(model)
    read = tokenize(vocab, prompt)
    whole = read + tokens
    params = lib.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = max(64, len(whole))
    params.n_threads = params.n_threads_batch = args.threads
    context = lib.llama_init_from_model(model, params)
    batch = lib.llama_batch_init(len(whole), 0, 1)
    batch.n_tokens = len(whole)
    for index, token in enumerate(whole):
        batch.token[index], batch.pos[index] = token, index
        batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
        batch.logits[index] = index + 1 >= len(read)
    if lib.llama_decode(context, batch) != 0:
        raise SystemExit("llama_decode failed")
    found = None, len(tokens)
    for place, token in enumerate(tokens):
        row = lib.llama_get_logits_ith(context, len(read) - 1 + place)
        logits = numpy.ctypeslib.as_array(row, shape=(lib.llama_vocab_n_tokens(vocab),))
        if int(numpy.argmax(logits)) != token:
            found = float(logits.max() - logits[token]), place
            break
    lib.llama_batch_free(batch)
    lib.llama_free(context)
    return found


def tokenize(vocab, text):
    data = text.encode()
    tokens = (lib.llama_token * (len(data) + 8))()
    count = lib.llama_tokenize(vocab, data, len(data), tokens, len(tokens), True, True)
    return list(tokens[:count])


main()
