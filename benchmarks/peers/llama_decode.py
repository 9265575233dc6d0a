"""Greedy decoding of a GGUF file by llama.cpp, as `crates/merit-model/examples/decode.rs` does it.

    python benchmarks/peers/llama_decode.py MODEL.gguf [--batch 1] [--threads 1] [--tokens 64] [--text TEXT] [--extra-buffers]

BATCH sequences read the same prompt (the text's tokens, the model's first token before them where it asks for one) and then
TOKENS tokens each, all sequences in one call of `llama_decode` a step; the next token is the largest logit. Only the steps are
timed, after one that warms up, drawing included. Tokens that end a text do not end a sequence.

llama.cpp quantises activations to 8 bits for its products with quantised weights; there is no other mode on a CPU. With its extra
buffer types it repacks weights for tiles of AMX where the chip has them (and otherwise for none of Q4_1).

One JSON line: seconds on the wall and of the processor, tokens a second by both, and the tokens of the first sequence.
"""

import argparse
import ctypes
import json
import time
from importlib.metadata import version

import llama_cpp as lib
import numpy

TEXT = "The capital of France is Paris. Here is a short story about a lighthouse keeper who found a map in a bottle:"


def load(args):
    quiet = lib.llama_log_callback(lambda *_: None)
    lib.llama_log_set(quiet, ctypes.c_void_p())
    lib.llama_backend_init()
    params = lib.llama_model_default_params()
    params.n_gpu_layers = 0
    params.use_extra_bufts = args.extra_buffers
    model = lib.llama_model_load_from_file(args.model.encode(), params)
    if not model:
        raise SystemExit(f"llama.cpp cannot load {args.model}")
    return model, quiet


def tokenize(vocab, text):
    data = text.encode()
    tokens = (lib.llama_token * (len(data) + 8))()
    count = lib.llama_tokenize(vocab, data, len(data), tokens, len(tokens), True, True)
    return list(tokens[:count])


def context_for(args, model, prompt):
    params = lib.llama_context_default_params()
    params.n_ctx = args.batch * (len(prompt) + args.tokens + 8)
    params.n_batch = params.n_ubatch = max(len(prompt), args.batch)
    params.n_seq_max = args.batch
    params.n_threads = params.n_threads_batch = args.threads
    return lib.llama_init_from_model(model, params)


def feed(context, entries):
    """Reads (sequence, position, token, wanted) entries; one call."""
    batch = lib.llama_batch_init(len(entries), 0, 1)
    batch.n_tokens = len(entries)
    for index, (sequence, position, token, wanted) in enumerate(entries):
        batch.token[index], batch.pos[index] = token, position
        batch.n_seq_id[index], batch.seq_id[index][0] = 1, sequence
        batch.logits[index] = wanted
    if lib.llama_decode(context, batch) != 0:
        raise SystemExit("llama_decode failed")
    lib.llama_batch_free(batch)


def largest(context, index, vocabulary):
    logits = lib.llama_get_logits_ith(context, index)
    return int(numpy.argmax(numpy.ctypeslib.as_array(logits, shape=(vocabulary,))))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("model")
    args.add_argument("--batch", type=int, default=1)
    args.add_argument("--threads", type=int, default=1)
    args.add_argument("--tokens", type=int, default=64)
    args.add_argument("--text", default=TEXT)
    args.add_argument("--extra-buffers", action="store_true")
    args = args.parse_args()

    model, _quiet = load(args)
    vocab = lib.llama_model_get_vocab(model)
    vocabulary = lib.llama_vocab_n_tokens(vocab)
    prompt = tokenize(vocab, args.text)
    context = context_for(args, model, prompt)
    latest = []
    before = time.perf_counter()
    for sequence in range(args.batch):
        last = len(prompt) - 1
        feed(context, [(sequence, position, token, position == last) for position, token in enumerate(prompt)])
        latest.append(largest(context, -1, vocabulary))
    prefill = time.perf_counter() - before

    drawn = [latest[0]]

    def step(position):
        feed(context, [(sequence, position, token, True) for sequence, token in enumerate(latest)])
        latest[:] = [largest(context, index, vocabulary) for index in range(args.batch)]
        drawn.append(latest[0])

    step(len(prompt))
    wall, cpu = time.perf_counter(), time.process_time()
    for position in range(len(prompt) + 1, len(prompt) + 1 + args.tokens):
        step(position)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    count = args.tokens * args.batch
    print(json.dumps({
        "what": "decode", "peer": f"llama-cpp-python {version('llama-cpp-python')}", "model": args.model,
        "batch": args.batch, "threads": args.threads, "prompt": len(prompt), "tokens": args.tokens,
        "seconds": wall, "cpu_seconds": cpu, "tokens_per_s": count / wall, "tokens_per_cpu_s": count / cpu,
        "prefill_tokens_per_s": args.batch * len(prompt) / prefill, "drawn": drawn,
    }))


if __name__ == "__main__":
    main()
