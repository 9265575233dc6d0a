"""A rollout of verl's over transformers' `generate`: what `actor_rollout_ref.rollout.name=transformers` names.

verl 0.9.1 has servers for vLLM, SGLang and TensorRT-LLM alone, and each needs packages of its own. This module is loaded by
`VERL_USE_EXTERNAL_MODULES` in every process of verl, as its plugins are, and adds one more to the two tables that verl looks servers up in.
The trainer, the agent loop, the load balancer, the reward loop, the engine and the sync of weights are verl's own.
"""

import asyncio
import os
import time

import ray
import torch
from verl.plugin.platform import get_platform
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.device import get_resource_name
from verl.workers.config import HFModelConfig
from verl.workers.rollout.base import _ROLLOUT_REGISTRY, BaseRollout
from verl.workers.rollout.replica import RolloutReplica, RolloutReplicaRegistry, TokenOutput

NAME = "transformers"
# A batch closes when no request has come for this long, or when it is as large as `max_num_seqs`.
QUIET = 0.1


class Server:
    """The model, and the requests that wait for it. One batch at a time; requests of one batch share their sampling."""

    def __init__(self, config, model_config):
        from transformers import AutoConfig, AutoModelForCausalLM

        self.config = config
        self.model_config = omega_conf_to_dataclass(model_config, dataclass_type=HFModelConfig)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        path = self.model_config.local_path
        made = AutoConfig.from_pretrained(path)
        self.model = AutoModelForCausalLM.from_config(made, dtype=getattr(torch, config.dtype), attn_implementation="sdpa").to(self.device).eval()
        self.filled = False
        generation = self.model_config.generation_config
        ends = getattr(generation, "eos_token_id", None) or made.eos_token_id
        self.ends = sorted({*(ends if isinstance(ends, list) else [ends]), self.model_config.tokenizer.eos_token_id})
        self.pad = self.model_config.tokenizer.pad_token_id or self.ends[0]
        self.global_steps = None
        self.waiting, self.arrived, self.batcher = [], None, None
        self.lock = asyncio.Lock()
        torch.manual_seed(config.seed)
        self.told = {"batches": 0, "sequences": 0, "tokens": 0, "seconds": 0.0}

    def where(self):
        return {"node": ray.util.get_node_ip_address(), "device": self.device, "pid": os.getpid(), "ends": self.ends}

    async def generate(self, request_id, *, prompt_ids, sampling_params, image_data=None, video_data=None, **_):
        assert image_data is None and video_data is None, "text only"
        if self.batcher is None:
            self.batcher = asyncio.create_task(self._batches())
        prompt = list(prompt_ids)
        room = self.config.prompt_length + self.config.response_length - len(prompt)
        wanted = sampling_params.get("max_tokens") or sampling_params.get("max_new_tokens") or min(self.config.response_length, room)
        how = (float(sampling_params.get("temperature", 1.0)), float(sampling_params.get("top_p", 1.0)), int(sampling_params.get("top_k", -1)))
        assert sampling_params.get("repetition_penalty", 1.0) == 1.0, "no penalty of repetition"
        done = asyncio.get_running_loop().create_future()
        self.waiting.append((prompt, max(1, wanted), how, done))
        self.arrived = time.monotonic()
        tokens, logs = await done
        return TokenOutput(
            token_ids=tokens, log_probs=logs if sampling_params.get("logprobs") else None,
            stop_reason="completed", extra_fields={"global_steps": self.global_steps},
        )

    async def _batches(self):
        while True:
            await asyncio.sleep(0.01)
            if not self.waiting or (time.monotonic() - self.arrived < QUIET and len(self.waiting) < self.config.max_num_seqs):
                continue
            how = self.waiting[0][2]
            batch = [one for one in self.waiting if one[2] == how][: self.config.max_num_seqs]
            chosen = {id(one) for one in batch}
            self.waiting = [one for one in self.waiting if id(one) not in chosen]
            try:
                async with self.lock:
                    said = await asyncio.to_thread(self._said, [one[0] for one in batch], max(one[1] for one in batch), how)
                for (_, wanted, _, done), (tokens, logs) in zip(batch, said):
                    done.set_result((tokens[:wanted], logs[:wanted]))
            except Exception as error:
                for *_, done in batch:
                    if not done.done():
                        done.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))

    @torch.no_grad()
    def _said(self, prompts, wanted, how):
        assert self.filled, "no weights have been given yet"
        begun = time.monotonic()
        temperature, top_p, top_k = how
        width = max(map(len, prompts))
        ids = torch.tensor([[self.pad] * (width - len(one)) + one for one in prompts], device=self.device)
        mask = torch.tensor([[0] * (width - len(one)) + [1] * len(one) for one in prompts], device=self.device)
        sampling = {"do_sample": False} if temperature == 0 else {
            "do_sample": True, "temperature": temperature, "top_p": top_p, "top_k": max(top_k, 0), "min_p": None, "typical_p": 1.0,
        }
        given = self.model.generate(
            input_ids=ids, attention_mask=mask, max_new_tokens=wanted, eos_token_id=self.ends, pad_token_id=self.pad,
            return_dict_in_generate=True, output_logits=True, **sampling,
        )
        tokens = given.sequences[:, width:]
        scale = temperature or 1.0
        logs = [torch.log_softmax(logits.float() / scale, -1).gather(1, tokens[:, at, None]) for at, logits in enumerate(given.logits)]
        logs, tokens = torch.cat(logs, 1).cpu().tolist(), tokens.cpu().tolist()
        said = []
        for row, of_row in zip(tokens, logs):
            length = next((at + 1 for at, token in enumerate(row) if token in self.ends), len(row))
            said.append((row[:length], of_row[:length]))
        self.told["batches"] += 1
        self.told["sequences"] += len(said)
        self.told["tokens"] += sum(len(row) for row, _ in said)
        self.told["seconds"] += time.monotonic() - begun
        return said

    async def fill(self, pieces, last):
        """Puts tensors of the trainer into the model."""
        async with self.lock:
            await asyncio.to_thread(self._fill, pieces)
        if last:
            self.filled = True
            self.model.tie_weights()

    @torch.no_grad()
    def _fill(self, pieces):
        own = self.model.state_dict()
        for name, tensor in pieces.items():
            assert own[name].shape == tensor.shape, f"{name}: {tuple(own[name].shape)} and {tuple(tensor.shape)}"
            own[name].copy_(tensor)

    async def set_global_steps(self, global_steps):
        self.global_steps = global_steps

    async def said_so_far(self):
        return self.told

    async def _nothing(self, *_, **__):
        return None

    # One small model stays where it is: nothing is freed, and nothing is cached between requests.
    sleep = wake_up = abort_all_requests = resume_generation = clear_kv_cache = release_kv_cache = resume_kv_cache = _nothing
    start_profile = stop_profile = _nothing


class Replica(RolloutReplica):
    async def launch_servers(self):
        [worker] = self.workers
        node, cards = await worker.__ray_call__.remote(
            lambda _: (ray.get_runtime_context().get_node_id(), ray.get_runtime_context().get_accelerator_ids()[get_resource_name()])
        )
        # The server asks Ray for no card of its own: it is beside the trainer on the trainer's.
        seen = {**{name: "1" for name in get_platform().ray_noset_envvars()}, get_platform().visible_devices_envvar(): ",".join(cards)}
        server = ray.remote(Server).options(
            name=f"{NAME}_server_{self.replica_rank}{self.name_suffix}", max_concurrency=self.max_concurrency, runtime_env={"env_vars": seen},
            scheduling_strategy=ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node_id=node, soft=False),
        ).remote(config=self.config, model_config=self.model_config)
        where = await server.where.remote()
        print(f"the rollout server of transformers: {where}")
        self.servers, self._server_handle = [server], server
        self._server_address = f"{where['node']}:{where['pid']}"


class Adapter(BaseRollout):
    """In the process of the trainer: hands its weights to the server."""

    def __init__(self, config, model_config, device_mesh, *_, **__):
        super().__init__(config, model_config, device_mesh)
        assert self.config.tensor_model_parallel_size == 1, "one card"
        self.rank, self.server = int(os.environ.get("RANK", "0")), None

    async def resume(self, tags):
        pass

    async def release(self):
        pass

    @torch.no_grad()
    async def update_weights(self, weights, wire_format="named_tensors", global_steps=None, **_):
        assert wire_format == "named_tensors"
        if self.server is None:
            self.server = ray.get_actor(f"{NAME}_server_{self.rank}")
        begun, pieces, size, count, dtype = time.monotonic(), {}, 0, 0, getattr(torch, self.config.dtype)
        for name, tensor in weights:
            tensor = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
            pieces[name] = tensor.detach().to(dtype).cpu()
            size, count = size + pieces[name].nbytes, count + 1
            if size > 256 << 20:
                await self.server.fill.remote(pieces, False)
                pieces, size = {}, 0
        await self.server.fill.remote(pieces, True)
        await self.server.set_global_steps.remote(global_steps)
        print(f"step {global_steps}: {count} tensors to the server in {time.monotonic() - begun:.2f} s")


RolloutReplicaRegistry.register(NAME, lambda: Replica)
_ROLLOUT_REGISTRY[(NAME, "async")] = "transformers_rollout.Adapter"
