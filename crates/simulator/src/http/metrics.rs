//! `/metrics` with vLLM's names and labels.

use std::fmt::{Display, Write};

use crate::config::Config;
use crate::engine::{BLOCK_TOKENS, Counters, Histogram};

/// The content type Prometheus text has.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Writes the text, one family after the other.
struct Page<'a> {
    text: String,
    model: &'a str,
    created: u64,
}

/// The metrics of a server.
pub(super) fn render(config: &Config, counters: &Counters, started_unix_s: u64) -> String {
    let model = escape(&config.model);
    let mut page = Page {
        text: String::with_capacity(16 * 1024),
        model: &model,
        created: started_unix_s,
    };
    gauges(&mut page, counters);
    caches(&mut page, counters);
    tokens(&mut page, counters);
    latencies(&mut page, counters);
    if !counters.accepted_by_position.is_empty() {
        speculation(&mut page, counters);
    }
    cache_config(&mut page, config);
    page.text
}

fn gauges(page: &mut Page<'_>, counters: &Counters) {
    page.gauge(
        "num_requests_running",
        "Number of requests in model execution batches.",
        &[("", counters.running as f64)],
    );
    page.gauge(
        "num_requests_waiting",
        "Number of requests waiting to be processed.",
        &[("", counters.waiting as f64)],
    );
    page.gauge(
        "num_requests_waiting_by_reason",
        "Number of waiting requests by reason.",
        &[
            (r#",reason="capacity""#, counters.waiting as f64),
            (r#",reason="deferred""#, 0.0),
        ],
    );
    page.gauge(
        "kv_cache_usage_perc",
        "KV-cache usage. 1 means 100 percent usage.",
        &[("", counters.kv_usage)],
    );
}

fn caches(page: &mut Page<'_>, counters: &Counters) {
    page.counter(
        "prefix_cache_queries",
        "Prefix cache queries, in terms of number of queried tokens.",
        &[("", counters.prefix_queries)],
    );
    page.counter(
        "prefix_cache_hits",
        "Prefix cache hits, in terms of number of cached tokens.",
        &[("", counters.prefix_hits)],
    );
    page.counter(
        "num_preemptions",
        "Cumulative number of preemption from the engine.",
        &[("", counters.preemptions)],
    );
}

fn tokens(page: &mut Page<'_>, counters: &Counters) {
    page.counter(
        "prompt_tokens",
        "Number of prefill tokens processed.",
        &[("", counters.prompt_tokens)],
    );
    let computed = counters.prompt_tokens - counters.prompt_tokens_cached;
    page.counter(
        "prompt_tokens_by_source",
        "Number of prompt tokens by source.",
        &[
            (r#",source="local_compute""#, computed),
            (
                r#",source="local_cache_hit""#,
                counters.prompt_tokens_cached,
            ),
            (r#",source="external_kv_transfer""#, 0),
        ],
    );
    page.counter(
        "prompt_tokens_cached",
        "Number of cached prompt tokens (local + external).",
        &[("", counters.prompt_tokens_cached)],
    );
    page.counter(
        "generation_tokens",
        "Number of generation tokens processed.",
        &[("", counters.generation_tokens)],
    );
    page.counter(
        "request_success",
        "Count of successfully processed requests.",
        &[
            (r#",finished_reason="stop""#, counters.finished_stop),
            (r#",finished_reason="length""#, counters.finished_length),
            (r#",finished_reason="abort""#, counters.finished_abort),
            (r#",finished_reason="error""#, 0),
            (r#",finished_reason="repetition""#, 0),
        ],
    );
    page.histogram(
        "iteration_tokens_total",
        "Histogram of number of tokens per engine_step.",
        &counters.step_tokens,
    );
}

fn latencies(page: &mut Page<'_>, counters: &Counters) {
    let families = [
        (
            "time_to_first_token_seconds",
            "Histogram of time to first token in seconds.",
            &counters.ttft_s,
        ),
        (
            "inter_token_latency_seconds",
            "Histogram of inter-token latency in seconds.",
            &counters.inter_token_s,
        ),
        (
            "e2e_request_latency_seconds",
            "Histogram of e2e request latency in seconds.",
            &counters.e2e_s,
        ),
        (
            "request_queue_time_seconds",
            "Histogram of time spent in WAITING phase for request.",
            &counters.queue_s,
        ),
        (
            "request_prefill_time_seconds",
            "Histogram of time spent in PREFILL phase for request.",
            &counters.prefill_s,
        ),
        (
            "request_decode_time_seconds",
            "Histogram of time spent in DECODE phase for request.",
            &counters.decode_s,
        ),
    ];
    for (name, help, histogram) in families {
        page.histogram(name, help, histogram);
    }
}

fn speculation(page: &mut Page<'_>, counters: &Counters) {
    page.counter(
        "spec_decode_num_drafts",
        "Number of spec decoding drafts.",
        &[("", counters.drafts)],
    );
    page.counter(
        "spec_decode_num_draft_tokens",
        "Number of draft tokens.",
        &[("", counters.draft_tokens)],
    );
    page.counter(
        "spec_decode_num_accepted_tokens",
        "Number of accepted tokens.",
        &[("", counters.accepted_tokens)],
    );
    let positions: Vec<(String, u64)> = counters
        .accepted_by_position
        .iter()
        .enumerate()
        .map(|(position, count)| (format!(r#",position="{position}""#), *count))
        .collect();
    let positions: Vec<(&str, u64)> = positions
        .iter()
        .map(|(label, count)| (label.as_str(), *count))
        .collect();
    page.counter(
        "spec_decode_num_accepted_tokens_per_pos",
        "Accepted tokens per draft position.",
        &positions,
    );
}

fn cache_config(page: &mut Page<'_>, config: &Config) {
    let blocks = config.kv_blocks();
    let tokens = blocks * BLOCK_TOKENS;
    let concurrency = tokens as f64 / config.max_model_len as f64;
    let text = &mut page.text;
    text.push_str(
        "# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig\n\
         # TYPE vllm:cache_config_info gauge\n",
    );
    let _ = writeln!(
        text,
        r#"vllm:cache_config_info{{block_size="{BLOCK_TOKENS}",cache_dtype="auto",enable_prefix_caching="True",engine="0",gpu_memory_utilization="0.92",kv_cache_max_concurrency="{concurrency}",kv_cache_size_tokens="{tokens}",num_cpu_blocks="None",num_gpu_blocks="{blocks}",num_gpu_blocks_override="None",prefix_caching_hash_algo="sha256",sliding_window="None"}} 1.0"#
    );
}

impl Page<'_> {
    fn head(&mut self, name: &str, help: &str, kind: &str) {
        let _ = write!(
            self.text,
            "# HELP vllm:{name} {help}\n# TYPE vllm:{name} {kind}\n"
        );
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(
            self.text,
            r#"vllm:{name}{{engine="0",model_name="{}"{labels}}} {value}"#,
            self.model
        );
    }

    fn gauge(&mut self, name: &str, help: &str, samples: &[(&str, f64)]) {
        self.head(name, help, "gauge");
        for (labels, value) in samples {
            self.sample(name, labels, format_args!("{value:?}"));
        }
    }

    fn counter(&mut self, name: &str, help: &str, samples: &[(&str, u64)]) {
        let total = format!("{name}_total");
        self.head(&total, help, "counter");
        for (labels, value) in samples {
            self.sample(&total, labels, format_args!("{:?}", *value as f64));
        }
        let created = format!("{name}_created");
        self.head(&created, help, "gauge");
        for (labels, _) in samples {
            let started = self.created;
            self.sample(&created, labels, format_args!("{:?}", started as f64));
        }
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.head(name, help, "histogram");
        let bucket = format!("{name}_bucket");
        let mut cumulative = 0;
        for (at, count) in histogram.counts.iter().enumerate() {
            cumulative += count;
            let bound = match histogram.bounds.get(at) {
                Some(bound) => format!("{bound:?}"),
                None => "+Inf".to_owned(),
            };
            let labels = format!(r#",le="{bound}""#);
            self.sample(&bucket, &labels, format_args!("{:?}", cumulative as f64));
        }
        let count = histogram.count() as f64;
        self.sample(&format!("{name}_count"), "", format_args!("{count:?}"));
        let sum = histogram.sum;
        self.sample(&format!("{name}_sum"), "", format_args!("{sum:?}"));
    }
}

/// A label value in the exposition format.
fn escape(value: &str) -> String {
    value
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}
