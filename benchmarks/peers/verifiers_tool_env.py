"""Cost of one turn in verifiers' ToolEnv with a fake model inside the process.

An episode has five turns: in turns 1 to 4 the model calls the tool `add`, in turn 5 it answers, and
the reward compares the answer. The fake client hands messages through unconverted and builds one
Response per call, so what is measured is the orchestration: states, messages, tool calls, stop
conditions, scoring.

Two entry points are measured: `generate`, the public call, which also collects the results and rebuilds
their metadata after each episode, and `run_rollout`, single scored rollouts gathered under a semaphore.
The cheaper of the two is the peer's best case.

--size is the number of sessions in flight. Without latency max(size, 512) episodes run; with
--latency-ms each model call sleeps that long, exactly `size` episodes run, and the ideal makespan is
turns x latency. CPU time is time.process_time, so other load on the machine disturbs it little.
"""

import argparse
import asyncio
import json
import logging
import resource
import time
from importlib.metadata import version

import verifiers as vf
from datasets import Dataset
from verifiers.clients import Client
from verifiers.types import Response, ResponseMessage, ToolCall

TURNS = 5


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


class FakeClient(Client):
    """Calls `add` until the last turn, then answers with the last tool result."""

    def __init__(self, latency_s: float):
        super().__init__(None)
        self.latency_s = latency_s

    def setup_client(self, config):
        return None

    async def to_native_tool(self, tool):
        return tool

    async def to_native_prompt(self, messages):
        return messages, {}

    async def get_native_response(self, prompt, model, sampling_args, tools=None, **kwargs):
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        turn = len(prompt) // 2  # the task, then an assistant and a tool message per turn
        if turn < TURNS - 1:
            call = ToolCall(id=f"call-{turn}", name="add", arguments=json.dumps({"a": turn, "b": 1}))
            message = ResponseMessage(content="", tool_calls=[call], finish_reason="tool_calls", is_truncated=False)
        else:
            message = ResponseMessage(content=prompt[-1].content, finish_reason="stop", is_truncated=False)
        return Response(id="fake", created=0, model=model, message=message)

    async def raise_from_native_response(self, response):
        pass

    async def from_native_response(self, response):
        return response

    async def close(self):
        pass


def correct(completion, answer) -> float:
    return float(completion[-1].content == answer)


def tasks(count: int) -> list[dict]:
    prompt = [{"role": "user", "content": "Count to four with the tool."}]
    return [{"prompt": prompt, "answer": str(TURNS - 1), "example_id": i} for i in range(count)]


async def by_generate(env, client, count, in_flight):
    quiet = lambda *args: None
    results = await env.generate(
        tasks(count), client, "fake", max_concurrent=in_flight, independent_scoring=True, on_start=quiet, on_progress=quiet
    )
    return results["outputs"]


async def by_run_rollout(env, client, count, in_flight):
    slots = asyncio.Semaphore(in_flight)

    async def one(task):
        async with slots:
            return await env.run_rollout(task, client, "fake", {})

    return await asyncio.gather(*(one(task) for task in tasks(count)))


ENTRIES = {"generate": by_generate, "run_rollout": by_run_rollout}


def measure(env, entry: str, size: int, episodes: int, latency_s: float) -> dict:
    client = FakeClient(latency_s)
    wall, cpu = time.perf_counter(), time.process_time()
    outputs = asyncio.run(ENTRIES[entry](env, client, episodes, size))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert len(outputs) == episodes and all(o["reward"] == 1.0 for o in outputs)
    assert all(o["metrics"]["num_turns"] == TURNS and o["metrics"]["add_calls"] == TURNS - 1 for o in outputs)
    turns = episodes * TURNS
    line = {
        "size": size, "episodes": episodes, "turns": TURNS, "entry": entry, "latency_ms": latency_s * 1e3,
        "cpu_us_per_turn": cpu / turns * 1e6, "wall_us_per_turn": wall / turns * 1e6,
        "turns_per_s": turns / wall, "wall_s": wall, "cpu_s": cpu,
        "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if latency_s:
        ideal = TURNS * latency_s * -(-episodes // size)
        line |= {"ideal_s": ideal, "share_of_ideal": ideal / wall}
    return line


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--rounds", type=int, default=1)
    args.add_argument("--size", default="64", help="sessions in flight, comma separated (64,512,4096)")
    args.add_argument("--episodes", type=int, help="default: max(size, 512), or size with latency")
    args.add_argument("--latency-ms", type=float, default=0.0, help="sleep of each model call (100 with --size 512)")
    args.add_argument("--entry", default="generate,run_rollout")
    args = args.parse_args()

    logging.disable(logging.WARNING)
    env = vf.ToolEnv(
        dataset=Dataset.from_list([{"question": "Count.", "answer": "4"}]),
        tools=[add], max_turns=2 * TURNS, rubric=vf.Rubric(funcs=[correct]),
    )
    for entry in args.entry.split(","):
        measure(env, entry, 32, 32, 0.0)  # warm up
    for round_ in range(args.rounds):
        for size in map(int, args.size.split(",")):
            episodes = args.episodes or (size if args.latency_ms else max(size, 512))
            for entry in args.entry.split(","):
                line = {"peer": "verifiers", "version": version("verifiers"), "subject": "tool-episodes", "round": round_}
                line |= measure(env, entry, size, episodes, args.latency_ms / 1e3)
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
