"""Threads, forks and pickles: what a trainer and a cluster do to every object."""

import multiprocessing
import os
import pickle
import threading
import time

import pytest

from merit_rl import InputError, Reward, Tool, Verifier, World

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


def in_child(work):
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
    said = b""
    while chunk := os.read(receive, 4096):
        said += chunk
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


def test_errors_are_exceptions_of_two_kinds():
    assert issubclass(InputError, ValueError)
