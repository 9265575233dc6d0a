"""merit under TRL's ``GRPOTrainer``: rewards, worlds and turn-level credit.

An episode without a verdict is ``None``: TRL leaves it out of the mean of its group and gives it the advantage 0.
"""

import itertools

from merit_rl._merit import Reward, World, advantages
from merit_rl.errors import InputError


class RewardFunc:
    """A merit reward as one of ``reward_funcs``. ``answer`` names the column with the right answer.

    The scores of the last batch are in ``last``; the mean of every term is logged as ``merit/TERM``.
    """

    def __init__(self, reward, *, answer="answer", name="merit"):
        self.reward = reward if isinstance(reward, Reward) else Reward(reward)
        self.answer, self.__name__, self.last, self.completions = answer, name, [], []

    def __call__(self, prompts, completions, environments=None, log_metric=None, trainer_state=None, **columns):
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


def environment(world, *, split="train", max_turns=32, **settings):
    """A class for ``environment_factory``: the model plays a world of merit by the tool ``say``.

    The dataset names tasks by the column ``index`` (see ``dataset``). Score what was played by ``RewardFunc``.
    """
    made = world if isinstance(world, World) else World(world, **settings)

    class Environment:
        def reset(self, index=0, **columns):
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


def dataset(tasks, *, say="Play by the tool `say`, one line at a time."):
    """Rows for ``datasets.Dataset.from_list``: a prompt and the index of a task each."""
    return [{"prompt": [{"role": "user", "content": say}], "index": index} for index in range(tasks)]


def credited(trainer_class, rule, reward_func):
    """``trainer_class`` with the advantages of a credit rule of merit, token by token, from the scores of ``reward_func``.

    A run of tokens that the model wrote is a turn; what tools answered gets nothing. Groups must not be spread over processes.
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
