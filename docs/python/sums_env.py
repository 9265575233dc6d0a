"""An environment of verifiers: tasks with a prompt, and a rubric that scores what the model said."""

import verifiers.v1 as vf


class Sum(vf.TaskData):
    answer: str


class SumTask(vf.Task[Sum, vf.State, vf.TaskConfig]):
    @vf.reward
    async def right(self, task, trace):
        return float(trace.last_reply.strip() == task.answer)


class Sums(vf.Taskset[SumTask, vf.TasksetConfig]):
    def load(self):
        for a in range(32):
            yield SumTask(Sum(prompt=f"What is {a} + {a}?", answer=str(2 * a)), self.config.task)


__all__ = ["Sums"]
