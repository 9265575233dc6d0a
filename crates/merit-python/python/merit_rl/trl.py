"""merit under TRL's ``GRPOTrainer``: rewards, worlds and turn-level credit.

An episode without a verdict is ``None``: TRL leaves it out of the mean of its group and gives it the advantage 0.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from merit_rl._given import RewardSource, Rule
from merit_rl._merit import Reward, World, advantages
from merit_rl.errors import InputError


class RewardFunc:
    """A merit reward as one of ``reward_funcs``. ``answer`` names the column with the right answer.

    The scores of the last batch are in ``last``; the mean of every term is logged as ``merit/TERM``.

    >>> from merit_rl import trl
    >>> right = trl.RewardFunc({"type": "maths"})
    >>> right(["6*7?", "6*7?", "6*7?"], ["42", "41", "42"], answer=["42", "42", ""])
    [1.0, 0.0, None]
    >>> [score.outcome for score in right.last]
    ['scored', 'scored', 'grader failed']
    """

    def __init__(self, reward: RewardSource, *, answer: str = "answer", name: str = "merit") -> None:
        self.reward = reward if isinstance(reward, Reward) else Reward(reward)
        self.answer, self.__name__, self.last, self.completions = answer, name, [], []

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        environments: Sequence[Any] | None = None,
        log_metric: Callable[[str, float], object] | None = None,
        trainer_state: Any = None,
        **columns: Any,
    ) -> list[float | None]:
        step, self.completions = getattr(trainer_state, "global_step", 0), completions
        if environments is not None:
            rows = [environment.played for environment in environments]
        else:
            answers = columns.get(self.answer, [None] * len(prompts))
            rows = [_row(*one) for one in zip(prompts, completions, answers)]
        self.last = self.reward.score(rows, step=step)
        if log_metric is not None:
            for term in self.reward.terms:
                found = [value for score in self.last if (value := score.terms.get(term)) is not None]
                if found:
                    log_metric(f"merit/{term}", sum(found) / len(found))
            log_metric("merit/without a verdict", sum(score.reward is None for score in self.last) / len(self.last))
        return [score.reward for score in self.last]


def _row(prompt, completion, answer):
    row = {} if answer is None else {"answer": str(answer)}
    if isinstance(completion, str):
        return {"prompt": prompt, "response": completion, **row}
    return {"messages": [*prompt, *completion], **row}


def environment(world: str | World, *, split: str = "train", max_turns: int | None = 32, **settings: Any) -> type:
    """A class for ``environment_factory``: the model plays a world of merit by the tool ``say``.

    The dataset names tasks by the column ``index`` (see ``dataset``). Score what was played by ``RewardFunc``.

    >>> from merit_rl import trl
    >>> played = trl.environment("sums")()
    >>> shown = played.reset(index=3)
    >>> played.say("answer 0")
    'It is over.'
    >>> paid = trl.RewardFunc("sums-tools")
    >>> _ = paid([""], [""], environments=[played])
    >>> paid.last[0].outcome
    'policy wrong'
    """
    made = world if isinstance(world, World) else World(world, **settings)

    class Environment:
        def reset(self, index: int = 0, **columns: Any) -> str:
            self.played = made.open(made.task(split, int(index)), seed=int(index), max_turns=max_turns)
            return "\n" + "\n".join(message["content"] for message in self.played.reset())

        def say(self, text: str) -> str:
            """
            Says one line to the world and returns what it answers.

            Args:
                text: The line.
            """
            if self.played.done:
                return "It is over."
            step = self.played.step(text)
            shown = "\n".join(message["content"] for message in step["messages"])
            return shown or ("It is over." if self.played.done else "Go on.")

    Environment.__name__ = f"merit_{made.name}"
    return Environment


def dataset(tasks: int, *, say: str = "Play by the tool `say`, one line at a time.") -> list[dict[str, Any]]:
    """Rows for ``datasets.Dataset.from_list``: a prompt and the index of a task each.

    >>> from merit_rl import trl
    >>> [row["index"] for row in trl.dataset(2)]
    [0, 1]
    """
    return [{"prompt": [{"role": "user", "content": say}], "index": index} for index in range(tasks)]


def credited(trainer_class: type, rule: Rule, reward_func: RewardFunc) -> type:
    """``trainer_class`` with the advantages of a credit rule of merit, token by token, from the scores of ``reward_func``.

    A run of tokens that the model wrote is a turn; what tools answered gets nothing. Groups must not be spread over processes.

    >>> from trl import GRPOTrainer
    >>> from merit_rl import trl
    >>> right = trl.RewardFunc({"type": "maths"})
    >>> trainer_class = trl.credited(GRPOTrainer, "turn-groups", right)
    >>> trainer_class.__name__, issubclass(trainer_class, GRPOTrainer)
    ('CreditedGRPOTrainer', True)
    """

    class Credited(trainer_class):
        def _generate_and_score_completions(self, inputs):
            import torch

            output = super()._generate_and_score_completions(inputs)
            written = output["completion_mask"].bool()
            if output.get("tool_mask") is not None:
                written &= output["tool_mask"].bool()
            scores = reward_func.last
            size = self.num_generations if self.model.training else self.num_generations_eval
            if len(scores) != len(written) or len(scores) % size:
                raise InputError(
                    f"{len(scores)} scores for {len(written)} completions in groups of {size}: turn-level credit needs whole groups"
                    " in one process"
                )
            groups = [at // size for at in range(len(scores))]
            mask = written.cpu().numpy()
            turns = [_by_message(*one) for one in zip(scores, reward_func.completions, mask)]
            given, _ = advantages(rule, [score.reward for score in scores], mask, groups=groups, turn_rewards=turns)
            output["advantages"] = torch.from_numpy(given).to(output["completion_ids"].device)
            return output

    Credited.__name__ = f"Credited{trainer_class.__name__}"
    return Credited


def _by_message(score, completion, mask):
    """What each message of the model was paid, a run of the mask each: the turns of the world that it called for, if any."""
    runs = int(mask[0]) + int((mask[1:] & ~mask[:-1]).sum())
    if not score.turn_rewards or isinstance(completion, str):
        return score.turn_rewards
    messages = [message for message in completion if message["role"] == "assistant"]
    calls = [sum("text" in call["function"]["arguments"] for call in message.get("tool_calls") or []) for message in messages]
    turns = iter(score.turn_rewards)
    paid = [sum(itertools.islice(turns, count)) for count in calls[:runs]]
    return [*map(float, paid), *[0.0] * (runs - len(paid))]
