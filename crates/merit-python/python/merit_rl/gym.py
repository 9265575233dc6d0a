"""Worlds as environments of Gymnasium: texts in, texts out.

An action is what the policy says. An observation is what it is shown: all messages of a ``reset``, and after each ``step`` what
came of it, one line each. Importing this module makes every world an id: ``gymnasium.make("merit/kbqa", mode="notes")``. Where
no ``reward`` is named the reward is the world's own, and 0 where it gives none, as most do. With one it is 0 until the episode ends, and then what
the reward says of all of it; ``turn_rewards`` of the last info says which turn earned it, where the reward pays by turn. An episode that cannot be scored raises: it has no reward, and 0
would be one.
"""

import gymnasium
from gymnasium import spaces
from gymnasium.envs.registration import register, registry

from merit_rl._merit import Reward, World, names
from merit_rl.errors import InputError, MeritError

_LONGEST = 1 << 20


def _shown(messages):
    return "\n".join(message["content"] for message in messages)


class TextEnv(gymnasium.Env):
    """A world of merit, one task an episode. ``reset(options={"index": 3})`` chooses the task, else the seed does."""

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, world, *, split="train", reward=None, max_turns=32, render_mode=None, **settings):
        self.world = world if isinstance(world, World) else World(world, **settings)
        self.split, self.max_turns, self.render_mode = split, max_turns, render_mode
        self.reward = reward if reward is None or isinstance(reward, Reward) else Reward(reward)
        self.action_space = spaces.Text(max_length=_LONGEST, min_length=0)
        self.observation_space = spaces.Text(max_length=_LONGEST, min_length=0)
        self.env, self.messages, self._paid = None, [], 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        index = (options or {}).get("index")
        if index is None:
            index = int(self.np_random.integers(1 << 31))
        task = self.world.task(self.split, index)
        self.env = self.world.open(task, seed=index, max_turns=self.max_turns)
        self.messages = self.env.reset()
        return _shown(self.messages), {"task": task["id"], "messages": list(self.messages)}

    def step(self, action):
        if self.env is None:
            raise InputError("call `reset` before the first step")
        step = self.env.step(action)
        self.messages += [{"role": "assistant", "content": action}, *step["messages"]]
        over = step["terminated"] or step["truncated"]
        told = {"messages": step["messages"], "calls": step["calls"], **step["info"]}
        reward = step["reward"] or 0.0
        if self.reward is not None:
            reward = self._scored(told) if over else 0.0
        return _shown(step["messages"]), reward, step["terminated"], step["truncated"], told

    def _scored(self, told):
        score = self.reward.score([self.env])[0]
        told.update(outcome=score.outcome, solved=score.solved, terms=score.terms, turn_rewards=score.turn_rewards)
        if score.reward is None:
            why = score.to_dict()["score"]
            raise MeritError(f"the episode has no reward ({score.outcome}): {why}")
        return score.reward

    def render(self):
        return "\n".join(f"{message['role']:>9}  {message['content']}" for message in self.messages)


class TextVectorEnv(gymnasium.vector.VectorEnv):
    """Several of them, stepped together; each begins its next task in the step after its end, as Gymnasium's ``NEXT_STEP`` says."""

    metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}

    def __init__(self, world, num_envs, **settings):
        self.num_envs = num_envs
        self.envs = [TextEnv(world, **settings) for _ in range(num_envs)]
        self.single_action_space = self.envs[0].action_space
        self.single_observation_space = self.envs[0].observation_space
        self.action_space = spaces.Tuple([self.single_action_space] * num_envs)
        self.observation_space = spaces.Tuple([self.single_observation_space] * num_envs)
        self._over = [False] * num_envs

    def reset(self, *, seed=None, options=None):
        seeds = [None if seed is None else seed + at for at in range(self.num_envs)]
        shown, told = zip(*(env.reset(seed=one, options=options) for env, one in zip(self.envs, seeds)))
        self._over = [False] * self.num_envs
        return shown, _together(told)

    def step(self, actions):
        import numpy

        came = []
        for at, (env, action) in enumerate(zip(self.envs, actions)):
            if self._over[at]:
                shown, told = env.reset()
                came.append((shown, 0.0, False, False, told))
            else:
                came.append(env.step(action))
        shown, rewards, ended, cut, told = zip(*came)
        self._over = [one or other for one, other in zip(ended, cut)]
        return shown, numpy.array(rewards), numpy.array(ended), numpy.array(cut), _together(told)


def _together(told):
    together = {}
    for at, one in enumerate(told):
        for key, value in one.items():
            together.setdefault(key, [None] * len(told))[at] = value
    return together


def vector(world, num_envs=1, **settings):
    """Several environments of a world, stepped together."""
    return TextVectorEnv(world, num_envs, **settings)


for _world in names("worlds"):
    if f"merit/{_world}" not in registry:
        register(
            id=f"merit/{_world}",
            entry_point="merit_rl.gym:TextEnv",
            vector_entry_point="merit_rl.gym:vector",
            kwargs={"world": _world},
            order_enforce=False,
            disable_env_checker=True,
        )
