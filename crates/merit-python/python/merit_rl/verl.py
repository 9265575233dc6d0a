"""merit under verl: a reward function, advantage estimators, a sandboxed tool, and worlds as an agent loop.

In verl's configuration ``reward.custom_reward_function`` has ``path`` ``pkg://merit_rl.verl``, ``name`` ``compute_score``, and
``reward_kwargs.reward`` names the reward. Where ``VERL_USE_EXTERNAL_MODULES`` is ``merit_rl.verl`` every process of verl knows ``merit_RULE``
as an advantage estimator, for every rule that learns from what verl hands over: rewards of tokens, a mask, groups. ``class_name`` of a tool is
``merit_rl.verl.MeritSandbox``, and ``_target_`` of an agent loop ``merit_rl.verl.MeritWorldLoop``.
"""

from __future__ import annotations

import asyncio
import functools
import json
import math
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from merit_rl._given import Rule
from merit_rl._merit import Reward, Tool, World, advantages, credit_needs, names
from merit_rl.errors import InputError, MeritError


@functools.lru_cache(maxsize=64)
def _reward(source):
    return Reward(source)


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    reward: str = "final-answer",
    **_: Any,
) -> dict[str, float]:
    """The score of one response, with its terms beside it, as verl's reward managers take it.

    verl knows no missing reward: an episode without a verdict raises, so that nobody learns from a 0 that nobody gave.

    >>> from merit_rl import verl
    >>> verl.compute_score("sums", "it is 42", "42", {"question": "6*7?"}, reward='type = "maths"')
    {'score': 1.0, 'acc': 1.0, 'merit/maths': 1.0}
    """
    extra = extra_info or {}
    row = {"prompt": extra.get("question", ""), "response": solution_str, "answer": str(ground_truth)}
    [score] = _reward(reward).score([row])
    if score.reward is None:
        raise ValueError(f"no reward for this response of {data_source} ({score.outcome}): {score.to_dict()['score']}")
    return {"score": score.reward, **_extra(score)}


def _extra(score):
    # verl makes an array of each key and reads it off every response: a term that says nothing is NaN and not left out.
    named = {f"merit/{name}": math.nan if value is None else value for name, value in score.terms.items()}
    return {"acc": score.reward if score.solved is None else float(score.solved), **named}


def estimator(rule: Rule) -> Callable[..., tuple[Any, Any]]:
    """An advantage estimator of verl's shape, backed by a credit rule of merit.

    Rewards on the tokens of a turn are that turn's; all of them together are the episode's. A rule that learns from more than verl hands over
    (values, continuations, annotations, infos, terms by turn, trees) is refused.

    >>> import torch
    >>> from merit_rl import verl
    >>> estimate = verl.estimator({"type": "grpo", "scale_by_std": False})
    >>> rewards, mask = torch.tensor([[0.0, 1.0], [0.0, 0.0]]), torch.tensor([[1, 1], [1, 1]])
    >>> estimate(token_level_rewards=rewards, response_mask=mask, index=["a", "a"])[0].tolist()
    [[0.5, 0.5], [-0.5, -0.5]]
    """
    needs, name = credit_needs(rule), rule if isinstance(rule, str) else rule["type"]
    lacks = (["the values of a value head"] if needs["values"] else []) + needs["beyond"]
    if lacks:
        raise InputError(
            f"the rule `{name}` learns from {' and '.join(lacks)}, and verl hands an advantage estimator rewards of tokens, a mask and groups;"
            f" the rules that work are {', '.join(f'`{one}`' for one in _rules())}"
        )

    def estimate(token_level_rewards, response_mask, index=None, config=None, **_):
        import torch

        if index is None and needs["groups"]:
            raise InputError(f"the rule `{name}` compares the answers to a question, and verl gave no `index`; `uid` of the batch says which are of one")
        mask = response_mask.bool().cpu().numpy()
        rewards = token_level_rewards.float().cpu().numpy()
        seen = {}
        groups = None if index is None else [seen.setdefault(one, len(seen)) for one in index]
        by_turn = [_turns(row, chosen) for row, chosen in zip(rewards, mask)]
        whole = [float(row.sum()) for row in rewards]
        given, returns = advantages(rule, whole, mask, groups=groups, turn_rewards=by_turn)
        given = torch.from_numpy(given).to(token_level_rewards.device)
        returns = given if returns is None else torch.from_numpy(returns).to(token_level_rewards.device)
        return given, returns

    return estimate


def _turns(rewards, mask):
    """What was paid in each run of the mask; all at the last token is paid at the end, which no turn earned."""
    import numpy

    starts = numpy.flatnonzero(mask & ~numpy.concatenate([[False], mask[:-1]]))
    paid_at = numpy.flatnonzero(rewards)
    if len(starts) < 2 or len(paid_at) == 0 or (len(paid_at) == 1 and paid_at[0] >= starts[-1]):
        return []
    ends = [*starts[1:], len(rewards)]
    return [float(rewards[start:end].sum()) for start, end in zip(starts, ends)]


def _works(rule):
    needs = credit_needs(rule)
    return not (needs["values"] or needs["beyond"])


@functools.cache
def _rules():
    """The rules that learn from what verl hands over."""
    return [rule for rule in names("rules") if _works(rule)]


def register(*rules: str) -> list[str]:
    """Registers ``merit_RULE`` with verl, for these rules or for all that work with what verl hands over, and gives the names by which it knows
    them. Importing this module beside verl does so. A rule that cannot work is refused here, with what it lacks.

    >>> from merit_rl import verl
    >>> verl.register("grpo", "turn-groups")
    ['merit_grpo', 'merit_turn-groups']
    >>> verl.register("gae")
    Traceback (most recent call last):
    merit_rl.errors.InputError: the rule `gae` learns from the values of a value head, and verl hands an advantage estimator ...
    """
    from verl.trainer.ppo.core_algos import ADV_ESTIMATOR_REGISTRY, register_adv_est

    # All of them are looked at before the first is registered.
    made = {f"merit_{rule}": estimator(rule) for rule in rules or _rules()}
    for name, estimate in made.items():
        if name not in ADV_ESTIMATOR_REGISTRY:
            register_adv_est(name)(estimate)
    return list(made)


@functools.cache
def _sandbox():
    from verl.tools.base_tool import BaseTool
    from verl.tools.schemas import ToolResponse

    class MeritSandbox(BaseTool):
        """Python programs in merit's sandbox, given as ``code``; what one defines the next one sees, until the trajectory is over.

        verl makes and releases an instance for every call, so the session hangs on the trajectory's own data where verl hands it over.

        >>> import asyncio, contextlib
        >>> from merit_rl import verl
        >>> with contextlib.redirect_stdout(None):  # verl prints what a tool is called with
        ...     tool = verl.MeritSandbox({"type": "native", "seconds": 10}, None)
        >>> async def call(code):
        ...     instance, _ = await tool.create()
        ...     response, reward, told = await tool.execute(instance, {"code": code})
        ...     await tool.release(instance)
        ...     return response.text
        >>> asyncio.run(call("print(6 * 7)"))
        '42'
        """

        def __init__(self, config: dict[str, Any], tool_schema: Any) -> None:
            super().__init__(config, tool_schema or _schema())
            self.tool, self.sessions = Tool("python"), {}
            self.seconds = float(config.get("seconds", 10.0))

        async def create(self, instance_id: str | None = None, **_: Any) -> tuple[str, ToolResponse]:
            return instance_id or str(uuid.uuid4()), ToolResponse()

        async def execute(
            self, instance_id: str, parameters: Mapping[str, Any], agent_data: Any = None, **_: Any
        ) -> tuple[ToolResponse, float, dict[str, Any]]:
            session = await asyncio.to_thread(self._session, instance_id, agent_data)
            ended, said = await asyncio.to_thread(session.call, str(parameters.get("code", "")), self.seconds)
            if ended == "broken":
                raise RuntimeError(f"the sandbox broke: {said}")
            return ToolResponse(text=said if ended == "ok" else f"{ended}: {said}"), 0.0, {"ended": ended}

        def _session(self, instance_id, agent_data):
            sessions, key = (self.sessions, instance_id) if agent_data is None else (vars(agent_data), f"_merit/{self.name}")
            if key not in sessions:
                sessions[key] = self.tool.open()
            return sessions[key]

        async def release(self, instance_id: str, **_: Any) -> None:
            self.sessions.pop(instance_id, None)

    return MeritSandbox


def _schema():
    from verl.tools.schemas import OpenAIFunctionToolSchema

    code = {"type": "string", "description": "The program."}
    parameters = {"type": "object", "properties": {"code": code}, "required": ["code"]}
    function = {"name": "python", "description": "Runs a Python program and returns what it prints.", "parameters": parameters}
    return OpenAIFunctionToolSchema.model_validate({"type": "function", "function": function})


@functools.cache
def _world_loop():
    from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput
    from verl.utils.profiler import simple_timer

    class MeritWorldLoop(AgentLoopBase):
        """A world of merit played turn by turn: the model talks, and the world answers as the user, until it is done or a limit is reached.

        In the file that ``actor_rollout_ref.rollout.agent.agent_loop_config_path`` names: ``name``, by which rows ask for it as
        ``agent_name``, and the settings of this class. The task is the one of the row's index; the row's own prompt is not read.

        >>> import hydra
        >>> from merit_rl import verl
        >>> line = {"name": "merit_world", "_target_": "merit_rl.verl.MeritWorldLoop", "world": "ledger", "reward": "ledger-tools", "max_turns": 16}
        >>> hydra.utils.get_class(line["_target_"]) is verl.MeritWorldLoop
        True
        """

        def __init__(
            self,
            *args: Any,
            world: str = "ledger",
            reward: str = "final-answer",
            settings: Mapping[str, Any] | None = None,
            split: str = "train",
            max_turns: int = 32,
            **kwargs: Any,
        ) -> None:
            # Tools that verl serves are not for a world, which has its own.
            kwargs.pop("tools", None)
            super().__init__(*args, **kwargs)
            self.world, self.reward = _world(world, _frozen(settings)), _reward(reward)
            self.split, self.max_turns = split, max_turns

        async def run(self, sampling_params: dict[str, Any], priority: int = 0, **row: Any) -> AgentLoopOutput:
            index = _index(row)
            task = self.world.task(self.split, index)
            played = self.world.open(task, seed=index, max_turns=self.max_turns)
            messages, metrics, told_of = await asyncio.to_thread(played.reset), {}, {}
            # What the model sees and which of it it wrote, with its log-probabilities where the server tells them.
            tokens, mask, logprobs, preempted = await self.ct_build_initial_tokens(messages), [], None, -1
            request, most = f"det-{priority}" if self.rollout_config.get("full_determinism") else uuid.uuid4().hex, self.rollout_config.response_length
            while True:
                with simple_timer("generate_sequences", metrics):
                    said = await self.server_manager.generate(request_id=request, prompt_ids=tokens, sampling_params=sampling_params)
                if said.num_preempted is not None:
                    preempted = max(preempted, 0) + said.num_preempted
                # The version of the weights that began it, and the one that ended it.
                told_of = {**said.extra_fields, **{key: value for key, value in told_of.items() if key != "max_global_steps"}}
                told = said.log_probs or None
                before = [] if logprobs is None and told else logprobs
                merged, mask, logprobs = await self.ct_merge_assistant_token(tokens, said.token_ids, mask, before, assistant_logprobs=told)
                tokens = merged.token_ids
                text = self.tokenizer.decode(said.token_ids, skip_special_tokens=True)
                with simple_timer("tool_calls", metrics):
                    step = await asyncio.to_thread(played.step, text)
                if played.done or len(mask) >= most:
                    break
                spoken = [*messages, {"role": "assistant", "content": text}]
                messages = [*spoken, *(step["messages"] or [{"role": "user", "content": "Go on."}])]
                merged, longer, after = await self.ct_merge_context_msg(spoken, messages, tokens, mask, logprobs)
                if len(longer) >= most:
                    break
                tokens, mask, logprobs = merged.token_ids, longer, after
            [score] = await asyncio.to_thread(self.reward.score, [played])
            if score.reward is None:
                raise MeritError(f"no reward for task {index} of {self.world.name} ({score.outcome}): {score.to_dict()['score']}")
            return AgentLoopOutput(
                prompt_ids=tokens[: len(tokens) - len(mask)],
                response_ids=tokens[len(tokens) - len(mask) :][:most],
                response_mask=mask[:most],
                response_logprobs=None if logprobs is None else logprobs[:most],
                reward_score=score.reward,
                num_turns=len(played.episode()["turns"]) * 2,
                metrics={**metrics, "num_preempted": preempted},
                extra_fields={**told_of, "turn_scores": score.turn_rewards, "tool_rewards": [], "reward_extra_info": _extra(score)},
            )

    # hydra makes the object from this name.
    MeritWorldLoop.__qualname__ = "MeritWorldLoop"
    return MeritWorldLoop


@functools.lru_cache(maxsize=64)
def _world(name, settings):
    return World(name, **json.loads(settings))


def _frozen(settings):
    from omegaconf import OmegaConf

    return json.dumps(OmegaConf.to_container(settings) if OmegaConf.is_config(settings) else settings or {}, sort_keys=True)


def _index(row):
    """The number of a row's task, which verl's own datasets keep in ``extra_info``."""
    index = (row.get("extra_info") or {}).get("index", row.get("index"))
    if index is None:
        raise InputError("a row for a world of merit needs `extra_info.index`, the number of its task")
    return int(index)


_OF_VERL = {"MeritSandbox": _sandbox, "MeritWorldLoop": _world_loop}


def __getattr__(name):
    # These classes are verl's children, and this module is also read where only the reward is wanted.
    if name in _OF_VERL:
        return _OF_VERL[name]()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


try:
    register()
except ImportError:
    pass
