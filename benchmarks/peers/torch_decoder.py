"""Training and sampling speed of a small decoder in torch and transformers (LlamaForCausalLM), on CPU.

Shapes (vocabulary, width, layers, heads, key-value heads, feed-forward), tied embeddings, sdpa attention:

    S = 264, 64, 3, 4, 2, 176      M = 512, 128, 6, 4, 2, 352      L = 2048, 256, 10, 8, 4, 704
    135M = 49152, 576, 30, 9, 3, 1536

train:  forward, cross-entropy over 32 x 128 positions (135M: 4 x 256), backward, fused AdamW; tokens/s
        counts all positions of a step.
sample: a prompt of --prompt tokens per row, then 128 new tokens at temperature 1 with the key-value cache,
        keeping the log-probability of each chosen token; tokens/s counts new tokens only, the time
        includes the prompt.

A round repeats the work for about --seconds (at least twice) after one warm-up and reports the median.
--mode chooses how torch runs it: `eager`, or `compile`, which compiles the training loss and the decoding
step (with dynamic shapes over the growing cache; a static cache was slower on S with 64 rows).
Compiling takes about a minute per shape, outside the measured time.
--precision bf16 trains under torch.autocast in bfloat16 with float32 weights, and samples from bfloat16 weights.
"""

import argparse
import json
import os
import resource
import statistics
import time

args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
args.add_argument("--rounds", type=int, default=1)
args.add_argument("--size", "--only", default="S,M,L", help="shapes, comma separated")
args.add_argument("--what", default="train,sample")
args.add_argument("--batch", default="16,64", help="rows when sampling, comma separated")
args.add_argument("--prompt", type=int, default=16, help="tokens of each row's prompt")
args.add_argument("--threads", type=int, default=1)
args.add_argument("--seconds", type=float, default=3.0)
args.add_argument("--mode", choices=["eager", "compile"], default="eager")
args.add_argument("--precision", choices=["f32", "bf16"], default="f32")
args = args.parse_args()
os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(args.threads)  # read when torch loads

import torch  # noqa: E402
import transformers  # noqa: E402
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM  # noqa: E402

SHAPES = {
    "S": (264, 64, 3, 4, 2, 176), "M": (512, 128, 6, 4, 2, 352), "L": (2048, 256, 10, 8, 4, 704),
    "135M": (49152, 576, 30, 9, 3, 1536),
}
BATCHES = {"135M": (4, 256)}  # rows and positions of a training step; 32 x 128 for all others
NEW = 128


def build(shape: str) -> LlamaForCausalLM:
    vocab, width, layers, heads, kv_heads, feed_forward = SHAPES[shape]
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=vocab, hidden_size=width, intermediate_size=feed_forward, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=kv_heads, max_position_embeddings=512,
        tie_word_embeddings=True, attn_implementation="sdpa", dtype=torch.float32,
    ))


def batch_of(shape: str) -> tuple[int, int]:
    return BATCHES.get(shape, (32, 128))


def training_step(model, shape: str):
    vocab, (rows, length) = SHAPES[shape][0], batch_of(shape)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    tokens = torch.randint(vocab, (rows, length + 1))
    inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].reshape(-1)

    def loss_of(inputs, targets):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.precision == "bf16"):
            logits = model(input_ids=inputs, use_cache=False).logits
            return torch.nn.functional.cross_entropy(logits.view(-1, vocab), targets)

    if args.mode == "compile":
        loss_of = torch.compile(loss_of, dynamic=False)

    def step():
        model.train()
        loss = loss_of(inputs, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        assert loss.item() < 20.0

    return step, rows * length


def choose(logits):
    """Samples at temperature 1 by inverting the distribution: of torch's ways the cheapest here."""
    logprobs = torch.log_softmax(logits.float(), dim=-1)
    below = logprobs.exp().cumsum(-1)
    token = torch.searchsorted(below, torch.rand(len(logits), 1) * below[:, -1:]).clamp_max_(logits.shape[-1] - 1)
    return token, logprobs.gather(-1, token)


def sampling(model, vocab: int, rows: int):
    decode = torch.compile(model, dynamic=True) if args.mode == "compile" else model
    prompt = torch.randint(vocab, (rows, args.prompt))

    @torch.no_grad()
    def sample():
        model.eval()
        cache, tokens, logprobs, feed = DynamicCache(config=model.config), [], [], prompt
        for i in range(NEW):
            run = decode if i else model
            logits = run(input_ids=feed, past_key_values=cache, use_cache=True, logits_to_keep=1).logits[:, -1]
            feed, logprob = choose(logits)
            tokens.append(feed)
            logprobs.append(logprob)
        tokens, logprobs = torch.cat(tokens, 1), torch.cat(logprobs, 1)
        assert tokens.shape == logprobs.shape == (rows, NEW) and bool((logprobs <= 0).all())

    return sample, rows * NEW


def measure(work, tokens: int) -> dict:
    walls, cpus, begin = [], [], time.perf_counter()
    while len(walls) < 2 or time.perf_counter() - begin < args.seconds:
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {
        "tokens_per_s": tokens / statistics.median(walls), "best_tokens_per_s": tokens / min(walls),
        "tokens_per_cpu_s": tokens / statistics.median(cpus), "median_ms": statistics.median(walls) * 1e3, "repeats": len(walls),
        "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main():
    torch.set_num_threads(args.threads)
    torch.set_num_interop_threads(1)
    torch._dynamo.config.recompile_limit = 64  # several shapes and batches share one forward; past the limit it runs eagerly
    works = []
    for shape in args.size.split(","):
        model, vocab = build(shape), SHAPES[shape][0]
        about = {"size": shape, "parameters": sum(p.numel() for p in model.parameters())}
        if "train" in args.what.split(","):
            rows, length = batch_of(shape)
            works.append(({**about, "what": "train", "rows": rows, "tokens": length}, *training_step(model, shape)))
            model = build(shape)  # sampling from the model that was trained ran slower when compiled
        if args.precision == "bf16" and "sample" in args.what.split(","):
            model = model.to(torch.bfloat16)
        if "sample" in args.what.split(","):
            for rows in map(int, args.batch.split(",")):
                works.append(({**about, "what": "sample", "rows": rows, "prompt": args.prompt, "tokens": NEW}, *sampling(model, vocab, rows)))
    for _, work, _ in works:
        work()  # warm up, and compile
    for round_ in range(args.rounds):
        for about, work, tokens in works:
            line = {"peer": "torch", "version": torch.__version__, "transformers": transformers.__version__, "subject": "decoder"}
            line |= {"round": round_, "threads": args.threads, "mode": args.mode, "precision": args.precision, **about, **measure(work, tokens)}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
