"""Threads, forks and pickles: what a trainer and a cluster do to every object."""

import contextlib
import copy
import json
import multiprocessing
import os
import pickle
import select
import signal
import sys
import threading
import time

import numpy as np
import pytest

import merit_rl
from merit_rl import InputError, Reward, Rollout, Tool, Verifier, World

ROWS = [{"prompt": "6*7?", "response": "42", "answer": "42"}] * 32


def test_the_interpreter_is_free_while_merit_works():
    code = Verifier("code")
    slow = {"response": "def f():\n    import time\n    time.sleep(0.5)\n    return 1", "tests": ["assert f() == 1"]}
    code.judge([{**slow, "response": "def f():\n    return 1"}])
    beats = []

    def beat():
        while not done.is_set():
            beats.append(1)
            time.sleep(0.01)

    done = threading.Event()
    beside = threading.Thread(target=beat)
    beside.start()
    code.judge([slow])
    done.set()
    beside.join()
    assert len(beats) > 10


def test_many_threads_share_one_object():
    reward, maths = Reward({"type": "maths"}), Verifier("maths")
    wrong = []

    def work():
        for _ in range(20):
            if any(score.reward != 1.0 for score in reward.score(ROWS)) or maths.pairs(["1"], ["1"]) != [1.0]:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


SLOW = """
import time

began = time.time()
time.sleep(0.5)
with open(__file__ + ".log", "a") as log:
    print(began, time.time(), file=log)


class Slow:
    def reset(self, seed):
        return "say a word"

    def step(self, action):
        time.sleep(0.2)
        return "heard", 0.0, False


def term(episode):
    return float(episode["turns"][-1]["action"].get("text") == episode["task"]["answer"]) if episode["turns"] else 0.0


def tool(word: str) -> str:
    "Gives a word back."
    return word
"""


@pytest.fixture
def slow(tmp_path):
    """A module that takes half a second to import, and notes when."""
    file = tmp_path / "slow.py"
    file.write_text(SLOW)
    return file


def test_the_interpreter_is_free_while_things_are_made(slow):
    of = {"python": sys.executable}
    tasks = [{"prompt": f"{at}+1?", "answer": str(at + 1)} for at in range(6)]
    recipe = f"""
name = "slow"
[world]
type = "python"
module = "{slow}:Slow"
python = "{sys.executable}"
[reward]
type = "solved-by"
term = "environment-reward"
of = {{ type = "sum", of = [{{ type = "environment-reward" }}] }}
[credit]
type = "grpo"
[budget]
steps = 1
groups = 4
group_size = 2
"""
    made = {
        "World": lambda: World("python", module=f"{slow}:Slow", **of),
        "World.of_recipe": lambda: World.of_recipe(recipe),
        "Tool": lambda: Tool("python-tool", module=f"{slow}:tool", **of),
        "Reward": lambda: Reward({"type": "python", "module": f"{slow}:term", **of}).score(ROWS[:1]),
        "attack": lambda: merit_rl.attack(Reward({"type": "python", "module": f"{slow}:term", **of}), tasks=tasks, count=2),
        "Rollout": lambda: Rollout(recipe, tasks=1),
        "pickle": lambda: pickle.loads(pickle.dumps(world)),
    }
    world = made["World"]()
    log = slow.with_name("slow.py.log")
    for name, make in made.items():
        log.unlink(missing_ok=True)
        beats, done = [], threading.Event()

        def beat():
            while not done.is_set():
                beats.append(time.time())
                time.sleep(0.01)

        beside = threading.Thread(target=beat)
        beside.start()
        make()
        done.set()
        beside.join()
        assert log.exists(), name
        for line in log.read_text().splitlines():
            began, ended = map(float, line.split())
            assert sum(began < at < ended for at in beats) > 10, name


def in_child(work, deadline=60):
    """What the work says in a forked child. One that hangs is killed, and fails the test."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = repr(work())
        except Exception as error:
            said = repr(error)
        os.write(send, said.encode())
        os._exit(0)
    os.close(send)
    said, until = b"", time.monotonic() + deadline
    while True:
        if not select.select([receive], [], [], max(0.0, until - time.monotonic()))[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail(f"the child hangs; so far it said {said}")
        chunk = os.read(receive, 4096)
        if not chunk:
            break
        said += chunk
    os.close(receive)
    os.waitpid(child, 0)
    return said.decode()


def test_a_forked_child_works_on_and_leaves_its_parent_alone():
    reward, code, world = Reward({"type": "maths"}), Verifier("code"), World("ledger")
    record = {"response": "def f():\n    return 1", "tests": ["assert f() == 1"]}
    reward.score(ROWS), code.judge([record])
    env = world.open(world.task())
    env.reset()
    assert in_child(lambda: [score.reward for score in reward.score(ROWS)][:2]) == "[1.0, 1.0]"
    assert in_child(lambda: code.judge([record])[0].passed) == "True"
    assert in_child(lambda: world.task()["world"]) == "'ledger'"
    assert "opened by another process" in in_child(lambda: env.step("answer 1"))
    assert code.judge([record])[0].passed and not env.step("answer 1")["truncated"]


@contextlib.contextmanager
def threads_at(works):
    """While threads do each of these again and again; none may break."""
    done, broke = threading.Event(), []

    def again(work):
        try:
            while not done.is_set():
                work()
        except Exception as error:
            broke.append(error)

    threads = [threading.Thread(target=again, args=(work,)) for work in works]
    [thread.start() for thread in threads]
    try:
        yield
    finally:
        done.set()
        [thread.join() for thread in threads]
    assert not broke


def test_a_fork_while_other_threads_work_leaves_a_child_that_works_or_refuses(slow):
    reward, code = Reward({"type": "maths"}), Verifier("code")
    plan, session = Rollout("sums-tools", tasks=2), Tool("python").open()
    world = World("python", module=f"{slow}:Slow", python=sys.executable)
    env = world.open(world.task(index=1))
    env.reset()
    record = {"response": "def f():\n    return 1", "tests": ["assert f() == 1"]}
    lasting = {"response": "def f():\n    import time\n    time.sleep(0.1)\n    return 1", "tests": ["assert f() == 1"] * 3}
    works = [
        lambda: env.step("word"),
        lambda: session.call("import time; time.sleep(0.1)"),
        lambda: code.judge([lasting] * 2),
        # Starts a sandbox of its own, and ends it.
        lambda: Verifier("code", sandbox={"max_running": 2}),
        lambda: plan.play(lambda messages: "answer 7"),
    ]

    def child():
        refused = []
        for call in (lambda: env.step("word"), lambda: env.done, lambda: session.call("1")):
            try:
                call()
            except InputError as error:
                refused.append("opened by another process" in str(error))
        return (
            refused,
            [score.reward for score in reward.score(ROWS)][:2],
            code.judge([record])[0].passed,
            Verifier("code", sandbox={"max_running": 2}).judge([record])[0].passed,
            world.task(index=2)["world"],
            World("python", module=f"{slow}:Slow", python=sys.executable).name,
            [score.outcome for score, _ in plan.play(lambda messages: "answer 7")] == played,
        )

    played = [score.outcome for score, _ in plan.play(lambda messages: "answer 7")]
    with threads_at(works):
        for pause in (0.3, 0.11, 0.05, 0.23, 0.17, 0.31):
            time.sleep(pause)
            assert in_child(child) == "([True, True, True], [1.0, 1.0], True, True, 'python', 'python', True)"
    # And what the parent has is still its own.
    assert code.judge([record])[0].passed and not env.step("word")["terminated"] and session.call("1")[0] == "ok"


SERVER = """
import json, os, sys, threading, time

LOCK = threading.Lock()


def say(**answer):
    with LOCK:
        print(json.dumps({"jsonrpc": "2.0", **answer}), flush=True)


def call(asked):
    time.sleep(0.01)
    said = f"{os.getpid()} {asked['params']['arguments']['word']}"
    say(id=asked["id"], result={"content": [{"type": "text", "text": said}]})


for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        say(id=asked["id"], result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "words", "version": "1"}})
    elif asked["method"] == "tools/list":
        schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
        say(id=asked["id"], result={"tools": [{"name": "word", "description": "Gives a word back.", "inputSchema": schema}]})
    elif asked["method"] == "tools/call":
        threading.Thread(target=call, args=(asked,)).start()
"""


@pytest.fixture(params=[False, True], ids=["a-server-an-episode", "one-server"])
def words(tmp_path, request):
    """A tool of a server of the Model Context Protocol that gives its process and a word back; whether all share that."""
    (tmp_path / "words.py").write_text(SERVER)
    command = [sys.executable, str(tmp_path / "words.py")]
    return Tool("mcp", server={"command": command, "start_s": 60.0}, stateless=request.param), request.param


def word(session, said):
    ended, answer = session.call(json.dumps({"word": said}))
    assert ended == "ok", answer
    process, answer = answer.split()
    assert answer == said
    return int(process)


def test_many_threads_use_one_tool_of_a_server_at_once(words):
    (tool, shared), wrong, processes = words, [], set()

    def work(name):
        try:
            session = tool.open()
            for at in range(20):
                processes.add(word(session, f"{name}-{at}"))
            word(tool, f"{name}-alone")
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(f"thread-{at}",)) for at in range(12)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong
    assert len(processes) == (1 if shared else 12)


def test_a_forked_child_has_a_server_and_a_sandbox_of_its_own_also_while_threads_use_the_parents(words):
    (tool, _), python = words, Tool("python")
    session, cells = tool.open(), python.open()
    theirs = word(session, "before")
    assert cells.call("x = 7")[0] == "ok"

    def child():
        refused = []
        for call in (lambda: word(session, "child"), lambda: cells.call("print(x)")):
            try:
                call()
            except InputError as error:
                refused.append("opened by another process" in str(error))
        own, said = word(tool, "child"), []
        made = [threading.Thread(target=lambda: said.append(word(tool, "thread"))) for _ in range(4)]
        [thread.start() for thread in made]
        [thread.join() for thread in made]
        return refused, own != theirs, len(said), "42" in python.call("print(6 * 7)")[1]

    with threads_at([lambda: word(session, "parent"), lambda: word(tool, "parent"), lambda: python.call("1")]):
        for pause in (0.2, 0.13, 0.31):
            time.sleep(pause)
            assert in_child(child) == "([True, True], True, 4, True)"
    # And what the parent has is still its own.
    assert word(session, "after") == theirs and "7" in cells.call("print(x)")[1]


def test_a_pool_of_processes_works_however_it_starts():
    reward = Reward({"type": "maths"})
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            scored = pool.starmap(score, [(reward, ROWS[:3])] * 4)
        assert scored == [[1.0] * 3] * 4


def score(reward, rows):
    return [score.reward for score in reward.score(rows)]


def test_whatever_is_not_open_can_be_pickled():
    world = pickle.loads(pickle.dumps(World("kbqa", mode="notes")))
    assert world.task()["world"] == "kbqa" and "notes" in repr(world)
    assert pickle.loads(pickle.dumps(Verifier("text", metric={"type": "f1"}))).pairs(["red fox"], ["red owl"]) == [0.5]
    assert pickle.loads(pickle.dumps(Reward("final-answer"))).terms == Reward("final-answer").terms
    assert pickle.loads(pickle.dumps(Tool("calc"))).call("1+1") == ("ok", "2")
    with pytest.raises(TypeError):
        pickle.dumps(world.open(world.task()))
    with pytest.raises(TypeError):
        pickle.dumps(Tool("calc").open())


def copies(one):
    """As a pool of processes sends it, as an old protocol does, and as `copy` makes it."""
    return [pickle.loads(pickle.dumps(one)), pickle.loads(pickle.dumps(one, protocol=2)), copy.deepcopy(one)]


def test_what_was_found_can_be_pickled_and_says_the_same():
    for score in Reward("final-answer").score([*ROWS[:1], {"prompt": "6*7?", "response": "41", "answer": "42"}, {"prompt": "6*7?", "response": "41"}]):
        for other in copies(score):
            assert other.to_dict() == score.to_dict() and repr(other) == repr(score)
            assert (other.reward, other.outcome, other.solved, other.terms) == (score.reward, score.outcome, score.solved, score.terms)
    records = [{"gold": "1/2", "response": "0.5"}, {"gold": "1/2", "response": "what?"}, {"gold": "", "response": "1"}]
    for judged in Verifier("maths").judge(records):
        for other in copies(judged):
            for name in ("passed", "score", "conclusion", "why", "detail"):
                assert getattr(other, name) == getattr(judged, name), name
            assert repr(other) == repr(judged)
    plan = Rollout("sums-tools", tasks=3, group_size=2, split="train", seed=5)
    whole = plan.play(lambda messages: "answer 7")
    for other in copies(plan):
        played = other.play(lambda messages: "answer 7")
        assert [episode for _, episode in played] == [episode for _, episode in whole]
        assert [score.to_dict() for score, _ in played] == [score.to_dict() for score, _ in whole]
    old, mask = np.full((2, 3), -1.0, np.float32), np.array([[True, True, False], [True, False, False]])
    for given in (mask, list(mask)):
        told = merit_rl.coefficients("policy-gradient", old, given, old_logprobs=old, advantages=old)
        for other in copies(told):
            assert (other.loss, other.parts, other.tokens, other.clipped) == (told.loss, told.parts, told.tokens, told.clipped)
            assert all(np.array_equal(*rows) for rows in zip(other.logprobs, told.logprobs)) and other.entropy is None


def test_what_a_reward_has_learned_is_pickled_with_it():
    kept = {"type": "gain", "of": {"type": "maths"}, "baseline": {"kept": {}}}
    reward = Reward(kept)
    reward.score(ROWS[:2], keep=True)
    rows = [{"prompt": "6*7?", "response": "41", "answer": "42"}]
    wanted = [score.reward for score in reward.score(rows, step=1, keep=True)]
    assert wanted != [score.reward for score in Reward(kept).score(rows, step=1, keep=True)]
    fresh = Reward(kept)
    fresh.score(ROWS[:2], keep=True)
    assert [score.reward for score in pickle.loads(pickle.dumps(fresh)).score(rows, step=1, keep=True)] == wanted


def test_errors_are_exceptions_of_two_kinds_in_every_process():
    def kinds():
        told = []
        for call in (lambda: Verifier("math"), lambda: Verifier("broken", at="start")):
            try:
                call()
            except Exception as error:
                told.append((type(error).__name__, isinstance(error, ValueError), isinstance(error, merit_rl.MeritError)))
        return told

    assert kinds() == [("InputError", True, True), ("MeritError", False, True)]
    assert in_child(kinds) == repr(kinds())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        # What is raised in another process arrives as what it was.
        with pytest.raises(InputError, match="did you mean `maths`") as mended:
            pool.apply(Verifier, ("math",))
        with pytest.raises(merit_rl.MeritError, match="merit itself broke") as broke:
            pool.apply(Verifier, ("broken",), {"at": "start"})
    assert type(mended.value) is InputError and type(broke.value) is merit_rl.MeritError
