"""What ``merit train --on ray`` and ``merit reproduce --on ray`` start: Ray's driver for a command.

Requests and answers are JSON lines over standard input and output. Training, scoring and everything that is kept stay with the command;
here episodes are played and cells are run, by actors and tasks that come and go. Nothing that is answered depends on who did the work.
"""

import collections
import contextlib
import hashlib
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import uuid

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from merit_rl import command
from merit_rl._merit import Player, __version__
from merit_rl.errors import MeritError
from merit_rl.ray import _Actor, _Crew

_LOSSES = 100
# Seconds for cells to end by themselves, once there is an error of one: those of another build are refused one after the other.
_MOMENT = 5


class _Worker(_Actor):
    """Plays plans with the embedded policy: a world is opened once, weights are fetched once for each version."""

    def __init__(self, folder):
        # What a recipe names by a relative path lies where the command was started, or nowhere on this node.
        if os.path.isdir(folder):
            os.chdir(folder)
        self.players, self.policy = {}, (None, None)

    def play(self, setup, policy, settings, groups):
        (setup, [text]), (policy, [weights]) = setup, policy
        if setup not in self.players:
            self.players[setup] = [None, Player(ray.get(text))]
        playing, player = self.players[setup]
        if playing != policy:
            if self.policy[0] != policy:
                self.policy = (policy, ray.get(weights))
            player.set_policy(self.policy[1])
            self.players[setup][0] = policy
        return player.play(settings, groups)


class _Stage:
    """The actors of a run, and what was put into the object store for them."""

    def __init__(self, actors):
        worker = ray.remote(num_cpus=1)(_Worker)
        folder = os.getcwd()
        self.crew, self.actors = _Crew(lambda: worker.remote(folder), actors, 2, _LOSSES, begun=1), actors
        self.setups, self.policy = {}, None

    def play(self, request):
        name = hashlib.sha256(request["setup"].encode()).hexdigest()
        if name not in self.setups:
            self.setups[name] = ray.put(request["setup"])
        setup = (name, [self.setups[name]])
        if request["weights"] is not None:
            weights = pathlib.Path(request["weights"])
            self.policy = (request["policy"], [ray.put(weights.read_bytes())])
            weights.unlink()
        groups, policy, settings = request["groups"], self.policy, request["settings"]
        # Two helpings for each actor: together they fill a batch, and who is done early takes another. What may not be played again goes
        # group by group, so that no more is lost than was begun; a group that was lost is `None`.
        size = -(-len(groups) // (2 * self.actors)) if request["replay"] else 1
        lost = None if request["replay"] else lambda part: [None] * len(part)
        parts = [groups[at : at + size] for at in range(0, len(groups), size)]
        played = self.crew.run(parts, lambda actor, part: actor.play.remote(setup, policy, settings, part), lost=lost)
        return [group for part in played for group in part]


class _NotBegun(MeritError):
    """A cell was refused, or ended, before it did anything."""


def _folder(shared, system):
    """A folder for one cell, and what names the system there."""
    shared = pathlib.Path(tempfile.gettempdir(), shared)
    (shared / "starts").mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp(dir=shared))
    source = system["name"]
    if system["text"] is not None:
        source = work / "system.toml"
        source.write_text(system["text"])
    # Cells of one node that begin alike imitate once.
    (work / system["name"]).mkdir()
    (work / system["name"] / "starts").symlink_to(shared / "starts")
    return work, source


def _cell(shared, folder, system, cell):
    """Runs one cell as a process; what its file holds."""
    name = cell["name"]
    try:
        program, (work, source) = command.program(), _folder(shared, system)
    except (MeritError, OSError) as error:
        raise _NotBegun(f"cell {name}: {error}") from error
    words = [program, "reproduce", source, "--seeds", cell["seed"], "--cell", name, "--workers", 1, "--json"]
    words += ["--cells", work, "--results", work, *system["flags"]]
    where = folder if os.path.isdir(folder) else None
    try:
        ran = subprocess.run([str(word) for word in words], cwd=where, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        raise _NotBegun(f"cell {name}: {error}") from error
    if ran.returncode != 0:
        # The first thing that a cell does is to make a folder of its name.
        begun = any((work / system["name"]).glob(f"{name}.*"))
        raise (MeritError if begun else _NotBegun)(f"cell {name}: {command._complaint(ran)}")
    told = (work / system["name"] / f"{name}.json").read_text()
    shutil.rmtree(work, ignore_errors=True)
    return told


def _sweep(shared):
    shutil.rmtree(pathlib.Path(tempfile.gettempdir(), shared), ignore_errors=True)


class _Cells:
    """Cells as tasks. Ray runs one again whose worker or node was lost, unless it reaches outside: that is told as gone, and is begun once."""

    def __init__(self, at_once):
        self.shared, self.at_once = f"merit-cells-{uuid.uuid4().hex}", at_once

    def run(self, request, told, requests):
        """Tells each cell as it is finished; stops where something else is asked for. What may be begun only once is told and begun when
        the command says so: then it is known on disk.

        An error of one cell ends the others.
        """
        task, folder = ray.remote(num_cpus=1)(_cell), os.getcwd()
        waiting, pending = collections.deque(enumerate(request["cells"])), {}
        try:
            while (waiting or pending) and requests.empty():
                while waiting and len(pending) < self.at_once:
                    at, cell = waiting.popleft()
                    if not cell["replay"] and not self._may_begin(at, told, requests):
                        return
                    again = task.options(max_retries=_LOSSES if cell["replay"] else 0)
                    pending[again.remote(self.shared, folder, request["system"], cell)] = at, cell["replay"]
                done, _ = ray.wait([*pending], timeout=0.5)
                for one in done:
                    self._tell(told, one, *pending.pop(one))
        except ray.exceptions.RayTaskError:
            done, _ = ray.wait([*pending], num_returns=len(pending), timeout=_MOMENT) if pending else ([], None)
            for one in done:
                with contextlib.suppress(ray.exceptions.RayError):
                    self._tell(told, one, *pending.pop(one))
            raise
        finally:
            for one in pending:
                ray.cancel(one, force=True)

    def _may_begin(self, at, told, requests):
        """Whether the command has kept that the cell is begun; otherwise it asks for something else."""
        told(at=at)
        if (said := requests.get())["ask"] == "go":
            return True
        requests.put(said)
        return False

    def _tell(self, told, one, at, replay):
        """Tells what came of a cell; raises its error where nothing more is to be begun."""
        try:
            told(at=at, cell=ray.get(one))
        except ray.exceptions.RayTaskError as error:
            # What the cell itself says is an answer.
            if not replay:
                told(at=at, **{"refused" if isinstance(error.cause, _NotBegun) else "failed": _words(error)})
            raise
        except ray.exceptions.RayError as error:
            # Nobody knows how far it was.
            if replay:
                raise
            told(at=at, gone=_words(error).strip().splitlines()[0])

    def close(self):
        def sweep(node):
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            return ray.remote(num_cpus=0, scheduling_strategy=there)(_sweep).remote(self.shared)

        swept = [sweep(node) for node in ray.nodes() if node["Alive"]]
        ray.wait(swept, num_returns=len(swept), timeout=10)


def _listen(requests):
    for line in sys.stdin:
        requests.put(json.loads(line))
    # Nobody waits for an answer any more; a cluster that was started here ends with it.
    threading.Timer(10, os._exit, [1]).start()
    ray.shutdown()
    os._exit(1)


def _words(error):
    cause = getattr(error, "cause", None) or error
    return str(cause) or type(cause).__name__


def _lost_its_node(error):
    """Whether a call failed because the node under it went first: Ray tells that as an error of the call."""
    cause = getattr(error, "cause", None)
    gone = isinstance(cause, OSError) and cause.errno is None and str(cause) in ("Broken pipe", "Connection reset by peer")
    return gone or isinstance(cause, ConnectionError)


def main(address, actors):
    """Serves until it is told to end, or the command is gone."""
    # Standard output is the command's; whatever prints goes to standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(**answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    requests = queue.Queue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(address=address or None, log_to_driver=False, logging_level="error")
    except Exception as error:
        return say(error=_words(error))
    actors = actors or max(1, int(ray.cluster_resources().get("CPU", 1)))
    say(version=__version__, actors=actors)
    stage = cells = None
    while (request := requests.get())["ask"] != "end":
        try:
            if request["ask"] == "play":
                stage = stage or _Stage(actors)
                say(groups=stage.play(request))
            else:
                cells = cells or _Cells(actors)
                cells.run(request, say, requests)
                say(done=True)
        except (MeritError, ray.exceptions.RayTaskError) as error:
            say(**{"lost" if _lost_its_node(error) else "error": _words(error)})
        except Exception as error:
            # Not what was asked but the way to the cluster: its node may be gone, and another driver would join another.
            say(lost=_words(error))
    if stage:
        stage.crew.close()
    if cells:
        cells.close()
    ray.shutdown()
    say(ended=True)


if __name__ == "__main__":
    # By its name, so that actors find it by that.
    from merit_rl import _on_ray

    _on_ray.main(sys.argv[1], int(sys.argv[2]))
