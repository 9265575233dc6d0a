"""Steps per second of TextArena's single-player games: reset, and play to the end with moves that the game takes.

    python benchmarks/peers/textarena_steps.py [--seconds 2]

The moves are chosen beforehand: at random among those that the game does not refuse, as the lines of an expert are recorded on the
other side. In the clock are `reset`, which makes the next task, `get_observation` and `step`, as an agent would call them; making the
game is not, as building a world is not. What a reset leaves behind of earlier games is cleared by hand; a second line has the speed over
a hundred resets as they are. Games that ask a model, or that load data from elsewhere, are left out. One JSON line for each
game.
"""

import argparse
import contextlib
import copy
import io
import itertools
import json
import random
import string
import sys
import time
from importlib.metadata import version

import numpy
import textarena

MOVES = ["[up]", "[right]", "[down]", "[left]"]
MOST_STEPS = 40
TASKS = 20
RESETS = 100


def cells(rows, cols, form):
    return [form.format(row, col) for row in range(rows) for col in range(cols)]


def sudoku(game):
    board = game.state.game_state["board"]
    empty = [(row, col) for row in range(9) for col in range(9) if board[row][col] == 0]
    return [f"[{row + 1} {col + 1} {game.full_grid[row][col]}]" for row, col in empty]


def crosswords(game):
    state = game.state.game_state
    board, solution = state["board"], state["solution"]
    hidden = [(row, col) for row in range(len(board)) for col in range(len(board[0])) if board[row][col] == "_"]
    return [f"[{row} {col} {solution[row][col]}]" for row, col in hidden]


def logic_puzzle(game):
    grids = game.game_board.values()
    return [f"[{row} {col} {mark}]" for grid in grids for row, marks in grid.items() for col in marks for mark in "XO"]


# What may be said in each game: a list, or how to find one in the game as it stands.
GAMES = {
    "2048-v0": MOVES,
    "Bandit-v0": [f"[{button}]" for button in ("red", "blue", "green", "yellow", "purple")],
    "Blackjack-v0": ["[Hit]", "[Stand]"],
    "Countdown-v0": [f"[{i} {j} {op}]" for i in range(6) for j in range(6) for op in "+-*/"],
    "Crosswords-v0": crosswords,
    "Cryptarithm-v0": [f"[{letter} {digit}]" for letter in string.ascii_uppercase for digit in range(10)],
    "FifteenPuzzle-v0": MOVES,
    "FrozenLake-v0": MOVES,
    "GuessTheNumber-v0": [f"[{number}]" for number in range(1, 21)],
    "LightsOut-v0": cells(5, 5, "[{} {}]"),
    "LogicPuzzle-v0": logic_puzzle,
    "Mastermind-v0": [f"[{' '.join(code)}]" for code in itertools.permutations("123456", 4)],
    "Minesweeper-v0": cells(8, 8, "[{} {}]"),
    "PegJump-v0": [f"[{i} {j}]" for i in range(1, 16) for j in range(1, 16)],
    "RushHour-v0": [f"[{letter}{way}]" for letter in string.ascii_uppercase for way in "+-"],
    "Secretary-v0": ["[continue]", "[accept]"],
    "Set-v0": [f"[{a}, {b}, {c}]" for a, b, c in itertools.combinations(range(1, 13), 3)],
    "Slitherlink-v0": cells(5, 5, "[h {} {}]") + cells(5, 5, "[v {} {}]"),
    "Sokoban-v0": MOVES,
    "Sudoku-v0": sudoku,
    "ThreeCardMonte-v0": ["[0]", "[1]", "[2]"],
    "TowerOfHanoi-v0": [f"[{a} {b}]" for a, b in itertools.permutations("ABC", 2)],
}


def inner(env):
    while isinstance(env, textarena.core.Wrapper):
        env = env.env
    return env


def begin(env, seed, cleared=True):
    # A reset leaves what was seen in the wrapper, which shows all earlier games to the player and takes longer each time.
    if cleared:
        env.full_observations.clear()
    random.seed(seed)
    numpy.random.seed(seed)
    env.reset(num_players=1, seed=seed)


def refused(env):
    state = inner(env).state
    return state.error_count > 0 or state.game_info[0].get("invalid_move", False)


def recorded(env, said, seed):
    """Moves of one game, none of which it refuses."""
    chooser = random.Random(seed)
    begin(env, seed)
    moves, done = [], False
    while not done and len(moves) < MOST_STEPS:
        choices = list(said(inner(env)) if callable(said) else said)
        chooser.shuffle(choices)
        for move in choices:
            before = random.getstate(), numpy.random.get_state()
            tried = copy.deepcopy(env)
            tried.get_observation()
            tried.step(action=move)
            random.setstate(before[0])
            numpy.random.set_state(before[1])
            if not refused(tried):
                break
        else:
            break
        env.get_observation()
        done, _ = env.step(action=move)
        moves.append(move)
    return moves


def play(game, said, seconds):
    env = textarena.make(env_id=game)
    plays = [recorded(env, said, seed) for seed in range(TASKS)]
    begin(env, 0)
    for move in plays[0]:
        env.get_observation()
        env.step(action=move)
        assert not refused(env), f"{game}: what was recorded is not what is played"
    for cleared in (True, False):
        steps = episodes = 0
        begun = time.perf_counter()
        while time.perf_counter() - begun < seconds and (cleared or episodes < RESETS):
            seed = episodes % TASKS
            begin(env, seed, cleared)
            episodes += 1
            for move in plays[seed]:
                env.get_observation()
                env.step(action=move)
            steps += len(plays[seed])
        took = time.perf_counter() - begun
        yield {"game": game, "cleared": cleared, "steps": steps, "episodes": episodes, "seconds": took, "steps_per_s": steps / took}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--seconds", type=float, default=2.0)
    args = args.parse_args()
    for game, said in GAMES.items():
        with contextlib.redirect_stdout(io.StringIO()):  # Some games print.
            lines = list(play(game, said, args.seconds))
        for line in lines:
            print(json.dumps({**line, "textarena": version("textarena")}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
