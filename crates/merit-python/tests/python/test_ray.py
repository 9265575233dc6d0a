"""On Ray the numbers are those of one machine, whatever the number of actors, and whoever dies."""

import json
import os
import threading
import time

import pytest

import merit_rl

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

from merit_rl import ray as on_ray  # noqa: E402

PLAN = {"tasks": 24, "seed": 5, "split": "held-out"}


def make_policy():
    def policy(messages):
        time.sleep(0.02)
        return "answer " + str(sum(map(len, (message["content"] for message in messages))) % 9)

    return policy


def told(played):
    return [(score["reward"], score["outcome"], json.dumps(episode["transcript"])) for score, episode in played]


@pytest.fixture(scope="module")
def cluster():
    os.environ["RAY_DEDUP_LOGS"] = "0"
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    nodes.add_node(num_cpus=2)
    ray.init(address=nodes.address, log_to_driver=False, logging_level="error")
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


def test_scores_keep_their_order(cluster):
    rows = [{"prompt": f"{at}+1?", "response": str(at + 1 + (at % 3 == 0)), "answer": str(at + 1)} for at in range(40)]
    here = [score.reward for score in merit_rl.Reward({"type": "maths"}).score(rows)]
    assert [one["reward"] for one in on_ray.score({"type": "maths"}, rows, actors=2, batch=7)] == here


def test_an_actor_that_is_killed_takes_nothing_with_it(cluster, alone):
    killed = []

    def watch(crew):
        def kill():
            time.sleep(1.0)
            ray.kill(crew.crew[0])
            killed.append(crew)

        threading.Thread(target=kill).start()

    assert told(on_ray.play("sums-tools", make_policy, actors=2, under_way=1, watch=watch, **PLAN)) == alone
    assert killed and killed[0].lost >= 1


def test_a_node_that_dies_takes_nothing_with_it(cluster, alone):
    node = cluster.add_node(num_cpus=2, resources={"doomed": 2})

    def watch(crew):
        threading.Timer(1.5, lambda: cluster.remove_node(node)).start()

    # One actor has to be on the node that dies; those that replace it may be anywhere.
    played = on_ray.play("sums-tools", make_policy, actors=4, under_way=1, watch=watch, **PLAN)
    assert told(played) == alone
