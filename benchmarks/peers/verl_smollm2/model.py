"""The folder of SmolLM2-135M-Instruct that verl reads, from the GGUF file.

    python model.py tokenizer FILE.gguf FOLDER     the tokenizer with its chat template, and the configuration of the model
    python model.py weights FILE.gguf FOLDER       float32 weights, beside those
"""

import os
import sys
import time

what, file, folder = sys.argv[1:4]
begun = time.time()
if what == "tokenizer":
    from gguf import GGUFReader
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import AutoConfig, GenerationConfig, PreTrainedTokenizerFast

    fields = GGUFReader(file).fields
    tokens, merges, kinds = (fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "merges", "token_type"))
    print(*(f"{name}: {fields[name].contents()}" for name in fields if name.startswith("tokenizer") and len(str(fields[name].contents())) < 999), sep="\n")
    assert fields["tokenizer.ggml.pre"].contents() == "smollm"
    plain = Tokenizer(models.BPE(vocab={token: at for at, token in enumerate(tokens)}, merges=[tuple(merge.split(" ")) for merge in merges]))
    plain.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    plain.decoder = decoders.ByteLevel()
    plain.add_special_tokens([AddedToken(token, special=True, normalized=False) for token, kind in zip(tokens, kinds) if kind == 3])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=plain, bos_token="<|im_start|>", eos_token="<|im_end|>", pad_token="<|im_end|>", unk_token="<|endoftext|>",
        padding_side="left", model_max_length=8192, clean_up_tokenization_spaces=False, chat_template=fields["tokenizer.chat_template"].contents(),
    )
    tokenizer.save_pretrained(folder)
    config = AutoConfig.from_pretrained(os.path.dirname(os.path.abspath(file)), gguf_file=os.path.basename(file))
    config.architectures, config.dtype = ["LlamaForCausalLM"], "float32"
    config.save_pretrained(folder)
    GenerationConfig(bos_token_id=1, eos_token_id=2, pad_token_id=2).save_pretrained(folder)
else:
    import torch
    from transformers import AutoModelForCausalLM

    where, name = os.path.split(os.path.abspath(file))
    model = AutoModelForCausalLM.from_pretrained(where, gguf_file=name, dtype=torch.float32)
    from safetensors.torch import save_file

    own = {name: tensor.contiguous() for name, tensor in model.state_dict().items() if name != "lm_head.weight"}
    save_file(own, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
    print(sum(one.numel() for one in own.values()), "parameters")
print(f"{time.time() - begun:.1f} s")
