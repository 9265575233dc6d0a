#!/bin/bash
# verl's own trainer, `python -m verl.trainer.main_ppo`, with the reward and the advantages of merit.
#
#     train.sh MODEL DATA OUT ARM SEED STEPS [more of verl's settings…]
#
# ARM is `merit`, or `permuted`: the control whose answers are shuffled among the questions.
# It needs verl 0.9.1 with Ray and the package merit-rl. MODULES names more plugins of verl; QUICK=1 asks for finished groups five times a second instead of every two seconds.
set -u
MODEL=$1 DATA=$2 OUT=$3 ARM=$4 SEED=$5 STEPS=$6
shift 6
HERE=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$OUT"
export PYTHONPATH=$HERE${PYTHONPATH:+:$PYTHONPATH}
export VERL_USE_EXTERNAL_MODULES=${MODULES:+$MODULES,}merit_rl.verl,transformers_rollout
export VERL_FILE_LOGGER_PATH=$OUT/$ARM-$SEED.jsonl
export HYDRA_FULL_ERROR=1 PYTHONUNBUFFERED=1 RAY_DEDUP_LOGS=0 RAY_USAGE_STATS_ENABLED=0 RAY_ENABLE_UV_RUN_RUNTIME_ENV=0 HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
export TRAIN_BATCH=${TRAIN_BATCH:-32}
if [ -n "${QUICK:-}" ]; then set -- trainer.v1.sampler.custom_sampler.path=pkg://quick_sampler trainer.v1.sampler.custom_sampler.name=Quick "$@"; fi
# A cluster of its own for every run, on this machine alone.
exec "${PYTHON:-python3}" -m verl.trainer.main_ppo \
  hydra.run.dir="$OUT/hydra-$ARM-$SEED" \
  data.train_files="$DATA/$ARM.parquet" data.val_files="$DATA/held-out.parquet" \
  data.train_batch_size="$TRAIN_BATCH" data.val_batch_size=512 data.max_prompt_length=64 data.max_response_length=48 data.seed="$SEED" data.dataloader_num_workers=0 \
  reward.custom_reward_function.path=pkg://merit_rl.verl reward.custom_reward_function.name=compute_score \
  +reward.custom_reward_function.reward_kwargs.reward="$HERE/maths.toml" reward.num_workers=2 \
  algorithm.adv_estimator=merit_grpo algorithm.use_kl_in_reward=False \
  actor_rollout_ref.model.path="$MODEL" actor_rollout_ref.model.use_remove_padding=False actor_rollout_ref.model.use_fused_kernels=True actor_rollout_ref.model.enable_gradient_checkpointing=False \
  +actor_rollout_ref.model.override_config.attn_implementation=sdpa \
  actor_rollout_ref.actor.strategy=fsdp2 actor_rollout_ref.actor.fsdp_config.strategy=fsdp2 \
  actor_rollout_ref.actor.use_torch_compile=False actor_rollout_ref.actor.fsdp_config.use_torch_compile=False \
  actor_rollout_ref.actor.optim.lr=1e-5 actor_rollout_ref.actor.optim.lr_scheduler_type=cosine actor_rollout_ref.actor.optim.lr_warmup_steps=5 actor_rollout_ref.actor.optim.weight_decay=0.0 \
  actor_rollout_ref.actor.fsdp_config.seed="$SEED" \
  actor_rollout_ref.actor.ppo_mini_batch_size="$TRAIN_BATCH" actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=128 \
  actor_rollout_ref.actor.use_kl_loss=False actor_rollout_ref.actor.entropy_coeff=0 \
  actor_rollout_ref.rollout.name=transformers actor_rollout_ref.rollout.mode=async actor_rollout_ref.rollout.n=8 actor_rollout_ref.rollout.seed="$SEED" \
  actor_rollout_ref.rollout.temperature=1.0 actor_rollout_ref.rollout.top_p=1.0 actor_rollout_ref.rollout.top_k=-1 \
  actor_rollout_ref.rollout.tensor_model_parallel_size=1 actor_rollout_ref.rollout.load_format=auto actor_rollout_ref.rollout.free_cache_engine=False \
  actor_rollout_ref.rollout.max_num_seqs=512 actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=128 actor_rollout_ref.rollout.agent.num_workers=2 \
  actor_rollout_ref.rollout.val_kwargs.temperature=0 actor_rollout_ref.rollout.val_kwargs.do_sample=False \
  transfer_queue.backend.SimpleStorage.num_data_storage_units=2 transfer_queue.backend.SimpleStorage.total_storage_size=20000 \
  trainer.n_gpus_per_node=1 trainer.nnodes=1 trainer.logger='["console","file"]' trainer.project_name=merit trainer.experiment_name="$ARM-$SEED" \
  trainer.default_local_dir="$OUT/checkpoints" trainer.resume_mode=disable trainer.save_freq=-1 trainer.val_before_train=True trainer.test_freq=1000000 \
  trainer.validation_data_dir="$OUT/said-$ARM-$SEED" trainer.total_epochs=100 trainer.total_training_steps="$STEPS" trainer.v1.sampler.sync_refill_failed_groups=True \
  +ray_kwargs.ray_init.include_dashboard=False +ray_kwargs.ray_init.address=local +ray_kwargs.ray_init._node_ip_address=127.0.0.1 \
  +ray_kwargs.ray_init._temp_dir="/tmp/ray-$ARM-$SEED" +ray_kwargs.ray_init.object_store_memory=4000000000 "$@"
