"""Steps per second of TextArena's single-player games: make, reset, and play to the end with actions that the game can read.

    python benchmarks/peers/textarena_steps.py [--seconds 2]

A step is `get_observation` and `step`, as an agent would call them; making and resetting the game is in the time, as opening a
task is on the other side. One JSON line for each game.
"""

import argparse
import itertools
import json
import time
from importlib.metadata import version

import textarena

MOVES = ["[up]", "[right]", "[down]", "[left]"]
GAMES = {
    "GuessTheNumber-v0": [f"[{number}]" for number in range(1, 21)],
    "Mastermind-v0": [f"[{' '.join(code)}]" for code in itertools.permutations("123456", 4)],
    "Minesweeper-v0": [f"[reveal {row} {col}]" for row in range(8) for col in range(8)],
    "FrozenLake-v0": MOVES,
}


def play(game, actions, seconds):
    steps = episodes = 0
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        env = textarena.make(env_id=game)
        env.reset(num_players=1, seed=episodes)
        episodes += 1
        for action in itertools.islice(itertools.cycle(actions), 40):
            env.get_observation()
            done, _ = env.step(action=action)
            steps += 1
            if done:
                break
    return {"game": game, "steps": steps, "episodes": episodes, "seconds": time.perf_counter() - begun}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--seconds", type=float, default=2.0)
    args = args.parse_args()
    for game, actions in GAMES.items():
        line = play(game, actions, args.seconds)
        line["steps_per_s"] = line["steps"] / line["seconds"]
        print(json.dumps({**line, "textarena": version("textarena")}))


if __name__ == "__main__":
    main()
