"""Writes a tiny Llama for vLLM's `--load-format dummy`: a configuration and a
tokenizer, no weights. Usage: tiny_model.py FOLDER"""

import json
import pathlib
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY_TOKENS = 8000
LONGEST_SEQUENCE_TOKENS = 131072
SPECIAL_TOKENS = ["<s>", "</s>", "<pad>"]
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "
)


def train_tokenizer(text: pathlib.Path) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_TOKENS,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train([str(text)], trainer)
    return tokenizer


def write(folder: pathlib.Path, text: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = train_tokenizer(text)
    tokenizer.save(str(folder / "tokenizer.json"))
    begin, end, pad = SPECIAL_TOKENS
    files = {
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": begin,
            "eos_token": end,
            "pad_token": pad,
            "model_max_length": LONGEST_SEQUENCE_TOKENS,
            "chat_template": CHAT_TEMPLATE,
        },
        "config.json": {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "hidden_size": 256,
            "intermediate_size": 512,
            "num_hidden_layers": 4,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 64,
            "vocab_size": tokenizer.get_vocab_size(),
            "max_position_embeddings": LONGEST_SEQUENCE_TOKENS,
            "rms_norm_eps": 1e-5,
            "rope_theta": 10000.0,
            "dtype": "float32",
            "torch_dtype": "float32",
            "bos_token_id": 0,
            "eos_token_id": 1,
            "tie_word_embeddings": True,
            "hidden_act": "silu",
        },
        "generation_config.json": {"bos_token_id": 0, "eos_token_id": 1},
    }
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value, indent=2) + "\n")


if __name__ == "__main__":
    corpus = pathlib.Path(__file__).parent.parent / "crates/load/corpus/prose.txt"
    write(pathlib.Path(sys.argv[1]), corpus)
