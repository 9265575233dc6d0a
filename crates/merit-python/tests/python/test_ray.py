"""On Ray the numbers are those of one machine, whatever the number of actors, and whoever dies."""

import contextlib
import functools
import json
import os
import pathlib
import socket
import sys
import tempfile
import threading
import time
import urllib.request

# Ray forks while gRPC's threads run (the server of a client, for one); gRPC's own handlers of forks now and then end the child.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

import chat  # noqa: E402
import examples  # noqa: E402
import pytest  # noqa: E402
import ray  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

import merit_rl  # noqa: E402
from merit_rl import _on_ray  # noqa: E402
from merit_rl import ray as on_ray  # noqa: E402

PLAN = {"tasks": 24, "seed": 5, "split": "held-out"}


def make_policy(seconds=0.02):
    def policy(messages):
        time.sleep(seconds)
        return "answer " + str(sum(map(len, (message["content"] for message in messages))) % 9)

    return policy


def told(played):
    return [(score["reward"], score["outcome"], json.dumps(episode["transcript"])) for score, episode in played]


@pytest.fixture(scope="module")
def cluster():
    os.environ |= {"RAY_DEDUP_LOGS": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    nodes.add_node(num_cpus=2)
    ray.init(address=nodes.address, log_to_driver=False, logging_level="error")
    # The workers do not know where these tests lie.
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture(scope="module")
def alone():
    played = merit_rl.rollout("sums-tools", make_policy(), concurrency=8, **PLAN)
    return told([(score.to_dict(), episode) for score, episode in played])


def test_any_number_of_actors_gives_the_numbers_of_one_machine(cluster, alone):
    for actors in (1, 3):
        assert told(on_ray.play("sums-tools", make_policy, actors=actors, under_way=4, **PLAN)) == alone


def test_the_same_actors_play_step_after_step(cluster, alone):
    with on_ray.Players(make_policy, actors=2, under_way=4) as players:
        assert told(players.play("sums-tools", **PLAN)) == told(players.play("sums-tools", **PLAN)) == alone
        # 24 tasks by 5 in a call: the last call is a short one.
        assert told(players.play("sums-tools", batch=5, **PLAN)) == alone
        with pytest.raises(merit_rl.InputError, match="`batch` is 0"):
            players.play("sums-tools", batch=0, **PLAN)


def test_scores_keep_their_order(cluster):
    rows = [{"prompt": f"{at}+1?", "response": str(at + 1 + (at % 3 == 0)), "answer": str(at + 1)} for at in range(40)]
    here = [score.reward for score in merit_rl.Reward({"type": "maths"}).score(rows)]
    assert [one["reward"] for one in on_ray.score({"type": "maths"}, rows, actors=2, batch=7)] == here


# A reward that compares and is disturbed, and rows of three tasks of unlike sizes, not one after the other.
DISTURBED = {"type": "exact-answer", "errors": {"false_positive": 0.4, "false_negative": 0.4}}
COMPARES = {"type": "normalised-sum", "of": [DISTURBED, {"type": "majority", "name": "usual"}]}


def answered(count):
    said = ["4", "5", "6"]
    return [{"prompt": f"{at % 3}+4?", "response": said[at * 5 // 3 % 3], "answer": str(at % 3 + 4)} for at in range(count)]


@pytest.mark.parametrize(
    "reward",
    [
        DISTURBED,
        COMPARES,
        {"type": "gain", "of": {"type": "exact-answer"}, "baseline": "group"},
        {"type": "sum", "of": [{"type": "distinct", "weight": 0.5}, {"type": "exact-answer"}]},
    ],
)
def test_rewards_that_compare_or_are_disturbed_pay_what_one_machine_pays(cluster, reward):
    # What the rows of a task do not agree on is not known of the task.
    for rows in (answered(40), [*answered(40), *({**row, "level": at} for at, row in enumerate(answered(6)))]):
        here = [score.to_dict() for score in merit_rl.Reward(reward).score(rows, seed=3, step=2)]
        assert len({json.dumps(one) for one in here}) > 3
        for batch in (7, 256):
            assert on_ray.score(reward, rows, actors=2, batch=batch, seed=3, step=2) == here


def test_a_reward_that_is_told_the_place_of_a_row_is_told_that_of_one_machine(cluster):
    def place(episode):
        return float(episode["id"]["group"] * 100 + episode["id"]["member"])

    reward = merit_rl.Reward({"type": "function", "function": "place"}, functions={"place": place})
    rows = answered(20)
    here = [score.reward for score in reward.score(rows)]
    assert here[3:5] == [1.0, 101.0]
    assert [one["reward"] for one in on_ray.score(reward, rows, actors=2, batch=4)] == here


def test_what_is_compared_with_all_rows_must_fit_one_call_and_what_is_kept_one_process(cluster):
    shuffled, rows = {"type": "shuffled", "of": {"type": "exact-answer"}}, answered(20)
    here = [score.to_dict() for score in merit_rl.Reward(shuffled).score(rows)]
    assert on_ray.score(shuffled, rows, batch=20) == here
    with pytest.raises(merit_rl.InputError, match="`shuffled` holds a row against all others, and 20 rows do not fit one call of 19"):
        on_ray.score(shuffled, rows, batch=19)
    with pytest.raises(merit_rl.InputError, match="`keep` is what one process learns"):
        on_ray.score("final-answer", rows, keep=True)


def test_every_part_of_a_reward_pays_alike_in_the_pieces_that_are_sent():
    """Of each part that merit has, its own example: the rows in pieces, as scorers send them, against all of them at once."""

    class Sent(on_ray.Scorers):
        def __init__(self, reward):
            self.batch = 7
            self.looks_at(reward.to_dict())

    # A judge's folder has to be there: test_rewards.py has one.
    names = {*merit_rl.names("terms"), *merit_rl.names("combinators")} - {"judge"}
    known = {name: example for name, example in of_the_reference() if name in names}
    assert set(known) == names
    whole = set()
    for name, example in known.items():
        reward = merit_rl.Reward(example)
        sent = Sent(reward)
        if sent.whole:
            whole.add(name)
            continue
        rows, parts = sent._sent(answered(30))
        here = [score.to_dict() for score in reward.score(answered(30), seed=1)]
        there = {at: score.to_dict() for part in parts for at, score in zip(part, reward.score([rows[at] for at in part], seed=1))}
        assert [there[at] for at in range(30)] == here, name
    assert whole == {"distinct", "shuffled", "team"}


def of_the_reference():
    """The parts of a reward with their examples, as the reference prints them."""
    page = (pathlib.Path(os.environ["MERIT_ROOT"]) / "docs" / "reference.md").read_text()
    for heading in ("## Reward term\n", "## Reward combinator\n"):
        for part in page.split(heading)[1].split("\n## ")[0].split("\n### ")[1:]:
            yield part.split("\n")[0], part.split("```toml\n")[1].split("```")[0]


def when_busy(crew, node=None):
    """The actor (on this node) that has work under way, as soon as there is one."""
    while True:
        for actor, load in list(crew.load.items()):
            if load and node in (None, crew.nodes[actor]):
                return actor
        time.sleep(0.01)


def hurt(crews, how):
    def watch(crew):
        crews.append(crew)
        threading.Thread(target=how, args=(crew,), daemon=True).start()

    return watch


def test_an_actor_that_is_killed_takes_nothing_with_it(cluster, alone):
    crews = []
    watch = hurt(crews, lambda crew: ray.kill(when_busy(crew)))
    slow = functools.partial(make_policy, 0.2)
    assert told(on_ray.play("sums-tools", slow, actors=2, under_way=1, watch=watch, **PLAN)) == alone
    assert crews[0].lost == 1


def test_the_next_calls_wait_at_the_actor_and_no_more_than_that(cluster, alone):
    seen, over = set(), threading.Event()

    def look(crew):
        while not over.is_set():
            seen.update(list(crew.load.values()))
            time.sleep(0.005)

    slow = functools.partial(make_policy, 0.1)
    assert told(on_ray.play("sums-tools", slow, actors=2, under_way=2, watch=hurt([], look), **PLAN)) == alone
    over.set()
    # Two under way, and two behind them.
    assert max(seen) == 4


def test_an_actor_asks_its_policy_no_more_often_at_a_time_than_it_was_told(cluster):
    class Counting:
        def __init__(self):
            self.lock, self.now, self.most = threading.Lock(), 0, 0

        def __call__(self, messages):
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            time.sleep(0.02)
            with self.lock:
                self.now -= 1
            return f"answer {self.most}"

    for batch in (None, 7):
        played = on_ray.play("sums-tools", Counting, actors=1, under_way=3, batch=batch, tasks=24, seed=1)
        said = [segment["text"] for _, episode in played for segment in episode["transcript"] if segment["role"] == "policy"]
        assert max(int(text.split()[1]) for text in said) == 3


@pytest.fixture
def doomed(cluster):
    """A node beside those that stay, and its id."""
    before = {node["NodeID"] for node in ray.nodes()}
    node = cluster.add_node(num_cpus=2)
    [name] = {node["NodeID"] for node in ray.nodes()} - before
    yield node, name
    if node in cluster.list_all_nodes():
        cluster.remove_node(node)


@pytest.mark.parametrize("retried", [True, False])
def test_a_node_that_dies_takes_nothing_with_it_because_its_work_is_done_again(cluster, alone, doomed, retried, monkeypatch):
    node, name = doomed
    crews = []

    def kill(crew):
        when_busy(crew, name)
        cluster.remove_node(node, allow_graceful=False)

    def play():
        # Three actors fill the three nodes: there is no room for the one that replaces the lost one, and nobody waits for it.
        slow = functools.partial(make_policy, 0.4)
        return on_ray.play("sums-tools", slow, actors=3, under_way=1, resources={"num_cpus": 2}, watch=hurt(crews, kill), **PLAN)

    if retried:
        assert told(play()) == alone and crews[0].lost == 1
    else:
        monkeypatch.setattr(on_ray, "_LOST", ())
        with pytest.raises(ray.exceptions.RayActorError):
            play()


def make_waiting_policy(gate):
    """A policy that says nothing before there is the file `gate`."""
    answer = make_policy(0)

    def policy(messages):
        until = time.monotonic() + 240
        while not gate.exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        return answer(messages)

    return policy


def test_an_actor_joins_in_the_middle_when_there_is_room_for_it(cluster, alone, tmp_path):
    crews, played = [], []
    waits = functools.partial(make_waiting_policy, tmp_path / "go")
    # Three actors are wanted, and the two nodes have room for one each.
    plan = {"actors": 3, "under_way": 1, "resources": {"num_cpus": 2}, "watch": crews.append, **PLAN}
    player = threading.Thread(target=lambda: played.extend(on_ray.play("sums-tools", waits, **plan)))
    player.start()
    while not crews or len(crews[0].load) < 2:
        time.sleep(0.01)
    when_busy(crews[0])
    assert (len(crews[0].load), len(crews[0].joining)) == (2, 1)
    before = {node["NodeID"] for node in ray.nodes()}
    # Ray starts nodes in the main thread alone.
    node = cluster.add_node(num_cpus=2)
    try:
        [name] = {node["NodeID"] for node in ray.nodes()} - before
        until = time.monotonic() + 240
        while len(crews[0].nodes) < 3 and time.monotonic() < until:
            time.sleep(0.02)
        (tmp_path / "go").touch()
        player.join(120)
    finally:
        cluster.remove_node(node)
    assert told(played) == alone
    assert len(crews[0].nodes) == 3 and name in crews[0].nodes.values() and crews[0].lost == 0


COUNTS = """
import time
class Env:
    def __init__(self, file, pause): self.file, self.pause = file, pause
    def reset(self, seed):
        self.seed = seed
        return "go"
    def step(self, action):
        # What reaches outside: a line of a file that nobody takes back.
        with open(self.file, "a") as file: file.write(f"{self.seed}\\n")
        time.sleep(self.pause)
        return "done", 1.0, True, {}
    def expert(self): return "go"
"""


SOLVED = 'type = "solved-by"\nterm = "environment-reward"\nof = { type = "environment-reward" }\n'


def outside(folder, file="seen", pause=0.0):
    """A world that is somebody's class, and the file in which it does something."""
    (folder / "counts.py").write_text(COUNTS)
    settings = f'settings = {{ file = "{folder / file}", pause = {pause} }}'
    return f'type = "python"\nmodule = "{folder / "counts.py"}:Env"\n{settings}\npython = "{sys.executable}"\n', folder / file


@pytest.mark.parametrize("replay_lost", [False, True])
def test_what_reaches_outside_is_not_played_again_unless_told(cluster, tmp_path, replay_lost):
    world, seen = outside(tmp_path, pause=0.3)
    reward = f"[reward]\n{SOLVED}"
    rest = '[credit]\ntype = "grpo"\n[budget]\nsteps = 1\ngroups = 4\ngroup_size = 2\n'
    recipe = f'name = "counts"\nabout = "counts"\n[world]\n{world}{reward}{rest}'
    crews = []

    def kill(crew):
        actor = when_busy(crew)
        while not seen.exists():
            time.sleep(0.01)
        ray.kill(actor)

    more = {"tasks": 12, "seed": 1, "actors": 2, "under_way": 1, "replay_lost": replay_lost}
    played = on_ray.play(recipe, functools.partial(make_policy, 0.3), watch=hurt(crews, kill), **more)
    assert len(played) == 12 and crews[0].lost == 1
    lost = [episode for score, episode in played if score["outcome"] == "infrastructure-failed"]
    assert [score["reward"] for score, _ in played].count(1.0) == 12 - len(lost)
    if replay_lost:
        assert not lost
        return
    [episode] = lost
    assert "reaches outside by `python`" in episode["end"]["fault"]["message"] and episode["end"]["fault"]["cause"] == "lost"
    # Nothing was done twice, and nothing but what was lost was left out.
    done = seen.read_text().split()
    assert len(done) == len(set(done)) >= 11
    assert [episode["id"]["group"] for _, episode in played] == list(range(12))


def counting(folder):
    """A recipe whose world is somebody's class, and the file in which that does something while learning."""
    text = pathlib.Path(TINY).read_text()
    world, seen = outside(folder, pause=0.2)
    shown, _ = outside(folder, "shown")
    for section, put in (("world", world), ("reward", SOLVED)):
        start = text.index(f"[{section}]\n") + len(section) + 3
        text = text[:start] + put + text[text.index("\n[", start) :]
    text = text.replace("[rollout]", f"[warm_start.world]\n{shown}\n[rollout]", 1)
    recipe = folder / "counts.toml"
    recipe.write_text(text[: text.index("[[controls]]")])
    return recipe, seen


@pytest.mark.parametrize("replay_lost", [False, True])
def test_training_counts_what_reaches_outside_and_was_lost_as_broken_unless_told(cluster, tmp_path, replay_lost):
    recipe, seen = counting(tmp_path)

    with killing_after(seen, cluster, b"ray::_Worker.play"):
        merit_rl.train(recipe, tmp_path / "run", set={"budget.steps": 1}, on=cluster.address, actors=2, replay_lost=replay_lost)
    told = merit_rl.episodes(tmp_path / "run")
    lost = [one for one in told if one["outcome"] == "infrastructure-failed"]
    # A group, whose members were under way together.
    assert len({one["id"].rpartition("/")[0] for one in lost}) == (0 if replay_lost else 1)
    assert all("reaches outside by `python`" in one["episode"]["end"]["fault"]["message"] and one["reward"] is None for one in lost)


class Endpoint:
    """A policy that asks a server of chat completions, with nothing but the standard library."""

    def __init__(self, url):
        self.url = url

    def __call__(self, messages):
        asked = json.dumps({"model": "fake", "messages": messages}).encode()
        request = urllib.request.Request(f"{self.url}/chat/completions", asked, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["choices"][0]["message"]["content"]


def test_a_server_of_chat_completions_is_the_policy_of_every_actor(cluster, alone):
    with chat.serving(make_policy()) as url:
        assert told(on_ray.play("sums-tools", functools.partial(Endpoint, url), actors=2, under_way=4, **PLAN)) == alone


def test_an_actor_that_cannot_be_made_is_not_tried_again(cluster):
    def no_policy():
        raise RuntimeError("no such model")

    with pytest.raises(merit_rl.MeritError, match="no such model"):
        on_ray.play("sums-tools", no_policy, actors=2, **PLAN)


TINY = os.path.join(os.environ["MERIT_ROOT"], "crates/merit/tests/tiny/tiny.toml")


def timeless(value):
    """A value without what depends on the clock."""
    if isinstance(value, dict):
        clocks = ("seconds", "tool_seconds", "cell_seconds", "train_seconds", "tokens_per_s", "date_ms", "run", "report", "look_times")
        return {key: timeless(one) for key, one in value.items() if key not in clocks and not key.startswith("seconds/")}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def record(folder, events):
    """Every episode with its score, every number that was told, and the weights."""
    return timeless(merit_rl.episodes(folder)), timeless(events), (folder / "policy.safetensors").read_bytes()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone") / "run"
    return record(folder, merit_rl.train(TINY, folder, threads=1))


def workers(title, nodes):
    """Processes of this title whose parents are raylets of these nodes."""
    raylets = {node.all_processes["raylet"][0].process.pid for node in nodes}
    found = []
    for entry in os.scandir("/proc"):
        try:
            with open(f"{entry.path}/cmdline", "rb") as words, open(f"{entry.path}/stat") as stat:
                named = words.read().startswith(title)
                if named and int(stat.read().rpartition(")")[2].split()[1]) in raylets:
                    found.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return found


def when_working(title, nodes):
    """One of these workers, as soon as there is one."""
    until = time.monotonic() + 60
    while not (found := workers(title, nodes)):
        assert time.monotonic() < until
        time.sleep(0.01)
    return found[0]


def test_training_on_ray_is_training_on_one_machine(cluster, trained, tmp_path):
    events = merit_rl.train(TINY, tmp_path / "run", on=cluster.address, actors=1)
    assert record(tmp_path / "run", events) == trained


def test_training_on_ray_without_an_address_joins_the_cluster_that_ray_is_told(cluster, trained, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    events = merit_rl.train(TINY, tmp_path / "run", on="ray", actors=2)
    assert record(tmp_path / "run", events) == trained


def test_training_on_ray_without_an_address_starts_a_cluster_where_there_is_none(trained, tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    # Where Ray looks for the cluster of this machine, and a path short enough for its sockets.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="r") as nowhere:
        monkeypatch.setenv("RAY_TMPDIR", nowhere)
        events = merit_rl.train(TINY, tmp_path / "run", on="ray", actors=2)
        assert record(tmp_path / "run", events) == trained
        assert list(pathlib.Path(nowhere, "ray").glob("session_*")), "it started none"


def when_served(port):
    """A cluster is told to be there before its server of clients listens."""
    until = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            assert time.monotonic() < until
            time.sleep(0.05)


def test_training_through_the_client_of_a_cluster_is_the_same(trained, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # A cluster of its own: where several nodes share a machine, Ray does not find the one that serves clients.
    head = {"num_cpus": 2, "include_dashboard": False, "ray_client_server_port": port}
    served = Cluster(initialize_head=True, head_node_args=head)
    try:
        when_served(port)
        events = merit_rl.train(TINY, tmp_path / "run", on=f"ray://127.0.0.1:{port}", actors=2)
    finally:
        served.shutdown()
    assert record(tmp_path / "run", events) == trained


@contextlib.contextmanager
def killing_after(seen, cluster, title):
    """While one of these workers is killed, once there is the file `seen`."""

    def kill():
        until = time.monotonic() + 240
        while not seen.exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        os.kill(when_working(title, cluster.list_all_nodes()), 9)
        killed.append("a worker")

    killed, killer = [], threading.Thread(target=kill, daemon=True)
    killer.start()
    yield
    killer.join(5)
    assert killed


@contextlib.contextmanager
def killing(cluster, node, title):
    """Kills a worker of this title, and then this node, while they work."""
    killed = []

    def kill():
        os.kill(when_working(title, set(cluster.list_all_nodes()) - {node}), 9)
        killed.append("a worker")
        when_working(title, [node])
        cluster.remove_node(node, allow_graceful=False)
        killed.append("a node")

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    yield
    killer.join(5)
    assert killed == ["a worker", "a node"]


def test_training_goes_on_when_a_worker_and_a_node_are_killed(cluster, trained, doomed, tmp_path):
    with killing(cluster, doomed[0], b"ray::_Worker.play"):
        events = merit_rl.train(TINY, tmp_path / "run", on=cluster.address, actors=5)
    assert record(tmp_path / "run", events) == trained


def test_training_goes_on_when_its_driver_is_killed(cluster, trained, tmp_path):
    def drivers():
        asked = f"\0-m\0merit_rl._on_ray\0{cluster.address}\0".encode()
        for entry in os.scandir("/proc"):
            with contextlib.suppress(OSError), open(f"{entry.path}/cmdline", "rb") as words:
                if asked in words.read():
                    yield int(entry.name)

    killed = []

    def kill():
        when_working(b"ray::_Worker.play", cluster.list_all_nodes())
        for driver in drivers():
            os.kill(driver, 9)
            killed.append(driver)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    events = merit_rl.train(TINY, tmp_path / "run", on=cluster.address, actors=2)
    killer.join(5)
    assert len(killed) == 1
    assert record(tmp_path / "run", events) == trained


SYSTEM = """
name = "tiny"
about = "two rewards"
paper = "none"
scope = "nothing was replaced"
confidence = "full text"
seeds = 3
experiment = {{ type = "recipe", recipe = {recipe}, controls = [] }}
[[arms]]
name = "as-it-is"
role = "method"
about = "as it is"
[[arms]]
name = "answer"
role = "baseline"
about = "paid for the answer alone"
set = {{ reward = {{ type = "exact-answer" }} }}
[[claims]]
says = "they are alike"
measure = {{ area = "success", axis = "policy_tokens" }}
arm = "as-it-is"
against = "answer"
within = 1.0
"""


def test_cells_on_ray_are_those_of_one_machine_and_are_found_again(cluster, doomed, tmp_path):
    system = tmp_path / "tiny.toml"
    system.write_text(SYSTEM.format(recipe=json.dumps(TINY)))

    def reproduced(name, *flags):
        told = merit_rl.run("reproduce", system, "--json", "--cells", tmp_path / name, "--results", tmp_path / name, *flags)
        lines = [json.loads(line) for line in told.splitlines()]
        return len(lines) - 1, timeless(lines[-1]["result"])

    with killing(cluster, doomed[0], b"ray::_cell"):
        ran, there = reproduced("there", "--on", cluster.address)
    assert (ran, there) == reproduced("here")
    assert reproduced("there") == (0, there)


ASKING = """
name = "asking"
about = "one rule, twice"
paper = "none"
scope = "nothing was replaced"
confidence = "full text"
seeds = 3
experiment = {{ type = "recipe", recipe = {recipe}, budget = {{ steps = 1 }} }}
[[arms]]
name = "as-it-is"
role = "method"
about = "as it is"
[[arms]]
name = "mean"
role = "baseline"
about = "by the mean alone"
set = {{ credit = {{ type = "grpo", scale_by_std = false }} }}
[[claims]]
says = "they are alike"
measure = "success"
arm = "as-it-is"
against = "mean"
within = 1.0
"""


@pytest.mark.parametrize("replay_lost", [False, True])
def test_a_cell_that_reaches_outside_and_was_lost_is_not_run_again_unless_told(cluster, tmp_path, replay_lost):
    recipe, seen = counting(tmp_path)
    system = tmp_path / "asking.toml"
    system.write_text(ASKING.format(recipe=json.dumps(str(recipe))))

    where = {"seeds": "1-2", "cells": tmp_path / "cells", "results": tmp_path / "results"}
    with killing_after(seen, cluster, b"ray::_cell"):
        *cells, last = merit_rl.reproduce(system, on=cluster.address, replay_lost=replay_lost, **where)
    assert len(cells) == len(last["result"]["cells"]) == 4
    lost = [cell for cell in last["result"]["cells"] if cell.get("lost")]
    assert len(lost) == (0 if replay_lost else 1)
    if replay_lost:
        assert all("record" in cell for cell in last["result"]["cells"])
        return
    [cell] = lost
    assert "record" not in cell and cell["broken"].startswith("an infrastructure failure: the worker that ran it was lost")
    assert "reaches outside by `python`" in cell["broken"] and "--replay-lost" in cell["broken"]
    assert "was lost" in last["result"]["ruling"]["why"]
    # It stays lost until somebody says that it may be run again.
    assert len(merit_rl.reproduce(system, **where)) == 1
    *again, last = merit_rl.reproduce(system, replay_lost=True, **where)
    assert len(again) == 1 and all("record" in cell for cell in last["result"]["cells"])


class Asking:
    """What a command asks for, once it heard that a cell is to be begun."""

    def __init__(self, *then):
        self.then, self.asked = list(then), []

    def empty(self):
        return not self.asked

    def get(self):
        return {"ask": self.then.pop(0) if self.then else "go"}

    def put(self, asked):
        self.asked.append(asked)


@pytest.mark.parametrize("kind", [merit_rl.MeritError, _on_ray._NotBegun])
def test_an_error_of_a_cell_is_told_with_it_and_ends_the_others(cluster, tmp_path, monkeypatch, kind):
    def cell(shared, folder, system, cell):
        (tmp_path / cell["name"]).write_text(str(os.getpid()))
        until = time.monotonic() + 60
        while cell["name"] == "other" or not (tmp_path / "other").exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        raise kind("it ended with -9")

    monkeypatch.setattr(_on_ray, "_cell", cell)
    monkeypatch.setattr(_on_ray, "_MOMENT", 0.1)
    heard, cells = [], [{"name": name, "seed": 1, "replay": False} for name in ("breaks", "other", "later")]
    with pytest.raises(merit_rl.MeritError, match="it ended with -9"):
        _on_ray._Cells(2).run({"system": None, "cells": cells}, lambda **answer: heard.append(answer), Asking())
    said = "failed" if kind is merit_rl.MeritError else "refused"
    assert heard == [{"at": 0}, {"at": 1}, {"at": 0, said: "it ended with -9"}]
    assert not (tmp_path / "later").exists()
    other, until = int((tmp_path / "other").read_text()), time.monotonic() + 30
    while os.path.exists(f"/proc/{other}"):
        assert time.monotonic() < until, "it was not ended"
        time.sleep(0.01)


def test_a_cell_that_may_be_begun_once_is_begun_when_the_command_has_kept_that(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(_on_ray, "_cell", lambda shared, folder, system, cell: (tmp_path / cell["name"]).write_text("begun"))
    heard, asking, cells = [], Asking("go", "end"), [{"name": name, "seed": 1, "replay": False} for name in ("first", "other")]
    _on_ray._Cells(1).run({"system": None, "cells": cells}, lambda **answer: heard.append(answer), asking)
    assert heard == [{"at": 0}, {"at": 0, "cell": 5}, {"at": 1}] and asking.asked == [{"ask": "end"}]
    assert (tmp_path / "first").exists() and not (tmp_path / "other").exists()


def test_a_cell_is_refused_until_it_does_something(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    system = {"name": "knapsack-composer", "text": None, "flags": ["--smoke"]}

    def ran(name="main-random-1-0"):
        return _on_ray._cell("cells", tmp_path, system, {"name": name, "seed": 1})

    with pytest.raises(_on_ray._NotBegun, match="cell main-random-1-0: .*install the same merit everywhere"):
        ran()
    stub = tmp_path / "merit"
    monkeypatch.setattr(_on_ray.command, "program", lambda: str(stub))
    for does, kind in (("", _on_ray._NotBegun), ('mkdir "${11}/$2/$6.run"', merit_rl.MeritError)):
        stub.write_text(f"#!/bin/sh\n{does}\nkill -9 $$\n")
        stub.chmod(0o755)
        with pytest.raises(merit_rl.MeritError, match="cell main-random-1-0: it ended with -9") as error:
            ran()
        assert error.type is kind
    stub.chmod(0o644)
    with pytest.raises(_on_ray._NotBegun, match="cell main-random-1-0: .*Permission denied"):
        ran()


def test_examples_run(cluster):
    examples.run("merit_rl.ray")


def test_what_cannot_be_played_elsewhere_is_refused(cluster, tmp_path):
    with pytest.raises(merit_rl.InputError, match="cannot be used with"):
        merit_rl.run("train", TINY, "--on", "ray", "--record", tmp_path / "tape")
