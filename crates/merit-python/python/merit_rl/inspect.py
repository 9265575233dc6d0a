"""merit under Inspect: a reward or a verifier as a scorer.

The target of a sample is the answer and the completion is the response. Of several targets the one that pays most counts. A sample
that cannot be judged is left unscored (``Score.unscored``, whose value is NaN): Inspect counts it under ``unscored_samples`` and keeps
it out of every metric.
"""

from __future__ import annotations

import asyncio
import json

from inspect_ai.scorer import Score, Scorer, mean, stderr
from inspect_ai.scorer import scorer as _registered

from merit_rl._given import RewardSource
from merit_rl._merit import Reward, Verifier


@_registered(metrics=[mean(), stderr()], name="merit_rl/merit")
def scorer(source: RewardSource | Verifier = "final-answer") -> Scorer:
    """A scorer from a reward (a name, a file, TOML, a dict or a ``Reward``) or from a ``Verifier``.

    A reward reads the conversation with its tool calls. A verifier reads a record: the sample's metadata, the target as ``gold`` and the
    completion as ``response``. The terms with their evidence, or what the verifier found, are in the metadata of the score.

    >>> import asyncio
    >>> from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
    >>> from inspect_ai.scorer import Target
    >>> from inspect_ai.solver import TaskState
    >>> from merit_rl.inspect import scorer
    >>> said = [ChatMessageUser(content="6*7?"), ChatMessageAssistant(content="It is 42.")]
    >>> output = ModelOutput.from_content("mine", "It is 42.")
    >>> state = TaskState(model="mine", sample_id=1, epoch=1, input="6*7?", messages=said, output=output)
    >>> score = asyncio.run(scorer({"type": "maths"})(state, Target("42")))
    >>> score.value, score.metadata["outcome"]
    (1.0, 'scored')
    """
    judge = source if isinstance(source, (Reward, Verifier)) else Reward(source)
    scores = _verified if isinstance(judge, Verifier) else _rewarded

    async def score(state, target):
        found = await asyncio.to_thread(scores, judge, state, [one for one in target if one])
        # The best of those that were judged; one that was not judged only where none was.
        value, why, reason, metadata = max(found, key=lambda one: (one[0] is not None, one[0] or 0.0))
        told = {"answer": state.output.completion, "explanation": why, "metadata": metadata}
        return Score.unscored(reason=reason, **told) if value is None else Score(value=value, **told)

    return score


def _rewarded(reward, state, answers):
    row = _row(state)
    rows = [{**row, "answer": answer} for answer in answers] or [row]
    return [_told(scored) for scored in reward.score(rows)]


def _told(scored):
    terms = (scored.to_dict()["score"] or {}).get("terms", [])
    why = [f"{term['name']}: {one['finding']}" for term in terms for one in term["evidence"]]
    why += [f"{term['name']}: {term['outcome']['why']}" for term in terms if "why" in term["outcome"]]
    metadata = {"outcome": scored.outcome, "solved": scored.solved, "terms": scored.terms, "evidence": terms}
    return scored.reward, "\n".join(why), scored.outcome.replace(" ", "_"), metadata


def _verified(verifier, state, answers):
    record = {**(state.metadata or {}), "response": state.output.completion}
    judged = verifier.judge([{**record, "gold": answer} for answer in answers] or [record])
    return [
        (one.score, one.why, one.conclusion.replace(" ", "_"), {"conclusion": one.conclusion, "detail": one.detail}) for one in judged
    ]


def _row(state):
    messages = [_message(one) for one in state.messages]
    if not messages or messages[-1]["role"] != "assistant":
        return {"prompt": state.input_text, "response": state.output.completion}
    return {"messages": messages}


def _message(message):
    told = {"role": message.role, "content": message.text}
    if getattr(message, "tool_calls", None):
        told["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.function, "arguments": json.dumps(call.arguments)}}
            for call in message.tool_calls
        ]
    if getattr(message, "tool_call_id", None):
        told["tool_call_id"] = message.tool_call_id
    return told
