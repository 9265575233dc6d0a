"""A server made with OpenEnv's own code, on loopback: an environment that echoes, and fails when it is told to.

    python openenv_server.py PORT [SESSIONS]
"""

import os
import sys

import uvicorn
from openenv.core.env_server import Action, Environment, Observation, State, create_app
from pydantic import Field


class Say(Action):
    message: str = Field(min_length=1, max_length=40)
    loud: bool = False


class Heard(Observation):
    echoed: str
    left: int


class Echo(Environment):
    """Pays 1 for the word that `reset` names, which ends it, and 0.25 for any other."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self.turns, self.word = 0, None

    def reset(self, seed=None, episode_id=None, start="say", **_):
        self.turns, self.word = 0, f"word{seed}"
        return Heard(echoed=f"{start} {self.word}", left=3)

    def step(self, action, timeout_s=None, **_):
        self.turns += 1
        if action.message == "die":
            os._exit(3)
        if action.message == "raise":
            raise RuntimeError("the environment is out of order")
        if action.message == "wrong":
            return Heard(echoed=7, left="many")
        right = action.message == self.word
        reward = {"silent": None, "nan": float("nan")}.get(action.message, 1.0 if right else 0.25)
        echoed = action.message.upper() if action.loud else action.message
        return Heard(echoed=echoed, left=3 - self.turns, done=right, reward=reward)

    @property
    def state(self):
        return State(step_count=self.turns)


if __name__ == "__main__":
    sessions = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    app = create_app(Echo, Say, Heard, max_concurrent_envs=sessions)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
