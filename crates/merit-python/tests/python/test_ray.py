"""On Ray the numbers are those of one machine, whatever the number of actors, and whoever dies."""

import contextlib
import functools
import json
import os
import socket
import sys
import threading
import time

import pytest

import merit_rl

# Ray forks while gRPC's threads run (the server of a client, for one); gRPC's own handlers of forks now and then end the child.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

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


def test_an_actor_that_cannot_be_made_is_not_tried_again(cluster):
    def no_policy():
        raise RuntimeError("no such model")

    with pytest.raises(merit_rl.MeritError, match="no such model"):
        on_ray.play("sums-tools", no_policy, actors=2, **PLAN)


TINY = os.path.join(os.environ["MERIT_ROOT"], "crates/merit/tests/tiny/tiny.toml")


def timeless(value):
    """A value without what depends on the clock."""
    if isinstance(value, dict):
        clocks = ("seconds", "tool_seconds", "cell_seconds", "train_seconds", "tokens_per_s", "date_ms", "run", "report")
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


def test_what_cannot_be_played_elsewhere_is_refused(cluster, tmp_path):
    with pytest.raises(merit_rl.InputError, match="cannot be used with"):
        merit_rl.run("train", TINY, "--on", "ray", "--record", tmp_path / "tape")
