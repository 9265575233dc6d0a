"""On Ray the numbers are those of one machine, whatever the number of actors, and whoever dies."""

import functools
import json
import os
import sys
import threading
import time

import pytest

import merit_rl

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
