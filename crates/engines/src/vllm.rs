//! vLLM. What is said of it was seen in 0.32.0 (CPU build) unless noted.

use serde::Deserialize;
use serde_json::{Map, json};
use wire::prometheus::{Exposition, Sample};

use crate::{Answer, Answers, Engine, EngineState, Features, PostRequest, PromptCache, Server};
use crate::{Support, TokenizeError, TokenizeInput, Tokenized, detect, tokenize};

const VERSION: &str = "/version";
const METRICS: &str = "/metrics";
const CACHE_CONFIG: &str = "vllm:cache_config_info";

/// vLLM, or a server that speaks its dialect.
pub(crate) struct Vllm;

impl Engine for Vllm {
    fn probes(&self) -> &'static [&'static str] {
        &[VERSION, METRICS]
    }

    fn recognises(&self, answers: &Answers) -> bool {
        detect::is_owned_by(answers, "vllm")
            || with_metrics(answers, |read| {
                read.samples
                    .iter()
                    .any(|sample| sample.name.starts_with("vllm:"))
            })
            .unwrap_or(false)
    }

    fn describe(&self, answers: &Answers, server: &mut Server) {
        if let Some(told) = answers.json::<Version>(VERSION) {
            let (_, local) = told.version.split_once('+').unwrap_or((&told.version, ""));
            server.backend = backend(local).map(str::to_owned);
            server.commit = commit(local).map(str::to_owned);
            server.version = Some(told.version);
            if let Some(simulator) = &told.simulated_by {
                server.notes.push(format!(
                    "this server is a simulation ({simulator}): its figures are those of no machine"
                ));
            }
            server.simulated_by = told.simulated_by;
        }
        if let Some(why) = answers.why_no_metrics(METRICS) {
            server.notes.push(format!(
                "{why}; queueing is inferred from the client and the KV cache's size is unknown"
            ));
            return;
        }
        server.has_metrics = true;
        let cache = with_metrics(answers, CacheConfig::read).unwrap_or_default();
        server.block_tokens = cache.block_tokens;
        server.kv_cache_tokens = cache.kv_tokens;
        if cache.is_from_blocks {
            server.notes.push(
                "the KV cache's size is blocks × block size, which overstates it for models \
                 with several kinds of attention"
                    .to_owned(),
            );
        }
    }

    /// `continuous_usage_stats` works on both routes: every event counts the
    /// tokens so far, and the role-only first event says 0.
    ///
    /// Events are not tokens: tokens of one step are merged when the reader or
    /// the server is slow, and speculative decoding adds several at once.
    ///
    /// `prompt_tokens_details` is null unless the server was started with
    /// `--enable-prompt-tokens-details`; the counters of the prefix cache move
    /// when a request is admitted, by whole blocks (1,000 tokens in blocks of
    /// 128: queries +1000, hits +896).
    fn features(&self, _server: &Server) -> Features {
        Features {
            continuous_usage: Support::Yes,
            one_token_per_event: Support::No,
            ignore_eos: Support::Yes,
            prompt_cache: PromptCache::Shared,
            count_fields: Map::new(),
        }
    }

    fn state_paths(&self, server: &Server) -> Vec<&'static str> {
        if server.has_metrics {
            vec![METRICS]
        } else {
            Vec::new()
        }
    }

    fn read_state(&self, answers: &Answers) -> Option<EngineState> {
        with_metrics(answers, state)?
    }

    fn tokenize_request(&self, server: &Server, input: &TokenizeInput<'_>) -> Option<PostRequest> {
        let model = &server.model.id;
        let body = match input {
            TokenizeInput::Text(text) => {
                json!({"model": model, "prompt": text, "add_special_tokens": false})
            }
            TokenizeInput::UserMessage(text) => json!({
                "model": model,
                "messages": [{"role": "user", "content": text}],
                "add_generation_prompt": true,
            }),
        };
        Some(PostRequest {
            path: "/tokenize".to_owned(),
            body: body.to_string().into_bytes(),
        })
    }

    fn read_tokenize(&self, answer: &Answer) -> Result<Tokenized, TokenizeError> {
        tokenize::read(answer)
    }
}

#[derive(Deserialize)]
struct Version {
    version: String,
    /// What a simulated engine says of itself, so that nobody takes it for real.
    #[serde(default)]
    simulated_by: Option<String>,
}

/// The backend in a local version label, such as `cu128` or `cpu`.
fn backend(local: &str) -> Option<&'static str> {
    let named = [
        ("cpu", "cpu"),
        ("cu", "cuda"),
        ("rocm", "rocm"),
        ("xpu", "xpu"),
        ("tpu", "tpu"),
    ];
    let words = local.split('.');
    let mut found =
        words.filter_map(|word| named.iter().find(|(label, _)| word.starts_with(label)));
    found.next().map(|(_, backend)| *backend)
}

/// The commit in a local version label: `g` and hexadecimal digits, as
/// setuptools-scm writes it.
fn commit(local: &str) -> Option<&str> {
    let is_commit =
        |hash: &&str| hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    local
        .split('.')
        .filter_map(|word| word.strip_prefix('g'))
        .find(is_commit)
}

fn with_metrics<T>(answers: &Answers, read: impl FnOnce(&Exposition<'_>) -> T) -> Option<T> {
    let text = answers.success_text(METRICS)?;
    let exposition = Exposition::read(&text).ok()?;
    Some(read(&exposition))
}

/// What `vllm:cache_config_info` tells, one sample for each engine under data
/// parallelism.
#[derive(Default)]
struct CacheConfig {
    kv_tokens: Option<u64>,
    is_from_blocks: bool,
    block_tokens: Option<u64>,
}

impl CacheConfig {
    fn read(read: &Exposition<'_>) -> Self {
        let mut config = Self::default();
        let mut total = Some(0);
        let mut engines = 0;
        for sample in read.named(CACHE_CONFIG) {
            engines += 1;
            let block = number(sample, "block_size");
            // Models with several kinds of attention share the cache in coarser
            // steps than their blocks.
            let aligned = number(sample, "cache_hit_alignment_tokens").or(block);
            config.block_tokens = config.block_tokens.max(aligned);
            let told = number(sample, "kv_cache_size_tokens");
            config.is_from_blocks |= told.is_none();
            let blocks = number(sample, "num_gpu_blocks");
            let of_blocks = || Some(blocks?.saturating_mul(block?));
            // An engine that does not tell leaves the whole unknown.
            total = total
                .zip(told.or_else(of_blocks))
                .map(|(sum, tokens)| sum + tokens);
        }
        config.kv_tokens = total.filter(|_| engines > 0);
        config.is_from_blocks &= config.kv_tokens.is_some();
        config
    }
}

/// A label that holds a number; Python's `None` is written as a word.
fn number(sample: &Sample<'_>, label: &str) -> Option<u64> {
    sample
        .label(label)?
        .parse()
        .ok()
        .filter(|number| *number > 0)
}

fn state(read: &Exposition<'_>) -> Option<EngineState> {
    let running = read.sum("vllm:num_requests_running")?;
    Some(EngineState {
        running: Some(running),
        waiting: read.sum("vllm:num_requests_waiting"),
        // Named for the GPU before 0.10.
        kv_used_fraction: mean(read, "vllm:kv_cache_usage_perc")
            .or_else(|| mean(read, "vllm:gpu_cache_usage_perc")),
        generation_tokens: read.sum("vllm:generation_tokens_total"),
        engine_steps: read.sum("vllm:iteration_tokens_total_count"),
        preemptions: read.sum("vllm:num_preemptions_total"),
        prefix_cache_queries: read
            .sum("vllm:prefix_cache_queries_total")
            .or_else(|| read.sum("vllm:gpu_prefix_cache_queries_total")),
        prefix_cache_hits: read
            .sum("vllm:prefix_cache_hits_total")
            .or_else(|| read.sum("vllm:gpu_prefix_cache_hits_total")),
        prefill_seconds: read.sum("vllm:request_prefill_time_seconds_sum"),
        slots: Vec::new(),
    })
}

fn mean(read: &Exposition<'_>, name: &str) -> Option<f64> {
    let count = read
        .named(name)
        .filter(|sample| !sample.value.is_nan())
        .count();
    #[expect(clippy::cast_precision_loss, reason = "a server has few engines")]
    read.sum(name).map(|sum| sum / count as f64)
}
