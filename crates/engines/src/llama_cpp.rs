//! llama.cpp's `llama-server`. What is said of it was seen in b11434.

use serde::Deserialize;
use serde_json::{Map, json};
use wire::prometheus::Exposition;

use crate::{Answer, Answers, Engine, EngineState, Features, PostRequest, PromptCache, Server};
use crate::{SlotState, Support, TokenizeError, TokenizeInput, Tokenized, detect, tokenize};

const PROPS: &str = "/props";
const SLOTS: &str = "/slots";
const METRICS: &str = "/metrics";

/// llama.cpp's `llama-server`.
pub(crate) struct LlamaCpp;

impl Engine for LlamaCpp {
    fn probes(&self) -> &'static [&'static str] {
        &[PROPS, SLOTS, METRICS]
    }

    fn recognises(&self, answers: &Answers) -> bool {
        let is_told = |props: Props| props.total_slots.is_some();
        detect::is_owned_by(answers, "llamacpp") || answers.json(PROPS).is_some_and(is_told)
    }

    /// A request must fit its slot, and more requests than slots wait. The size
    /// of the KV cache is not told: slots that share one (`--kv-unified`) may
    /// each show the whole of it.
    fn describe(&self, answers: &Answers, server: &mut Server) {
        match answers.json::<Props>(PROPS) {
            Some(props) => describe_props(props, server),
            None => server.notes.push(
                "llama.cpp did not answer GET /props: slots and their size are known only as \
                 far as /slots and /v1/models tell"
                    .to_owned(),
            ),
        }
        if let Some(slots) = answers.json::<Vec<Slot>>(SLOTS) {
            server.has_slots = true;
            server.slot_count = server.slot_count.or(u32::try_from(slots.len()).ok());
            server.slot_n_ctx = slots
                .iter()
                .filter_map(|slot| slot.n_ctx)
                .min()
                .or(server.slot_n_ctx);
        }
        let why_no_metrics = answers.why_no_metrics(METRICS);
        server.has_metrics = why_no_metrics.is_none();
        note_what_is_missing(server, why_no_metrics);
    }

    /// With `timings_per_token`, every event with text counts the tokens so far,
    /// on both routes; `continuous_usage_stats` is ignored. An event is one token
    /// only in plain text: a character of several tokens comes as one event, so
    /// 48 tokens of emoji were 16 events.
    ///
    /// Usage tells `cached_tokens` at the end on both routes. A warm slot finds
    /// all but one token of its prompt: one is always processed. `id_slot` sends
    /// a request to a slot; else the slot with the longest common prefix takes it.
    fn features(&self, _server: &Server) -> Features {
        let mut count_fields = Map::new();
        count_fields.insert("timings_per_token".to_owned(), json!(true));
        Features {
            continuous_usage: Support::No,
            one_token_per_event: Support::No,
            ignore_eos: Support::Yes,
            prompt_cache: PromptCache::PerSlot,
            count_fields,
        }
    }

    fn state_paths(&self, server: &Server) -> Vec<&'static str> {
        let metrics = server.has_metrics.then_some(METRICS);
        metrics
            .into_iter()
            .chain(server.has_slots.then_some(SLOTS))
            .collect()
    }

    fn read_state(&self, answers: &Answers) -> Option<EngineState> {
        let slots = answers.json::<Vec<Slot>>(SLOTS);
        let text = answers.success_text(METRICS);
        let read = text.as_ref().and_then(|text| Exposition::read(text).ok());
        if slots.is_none() && read.is_none() {
            return None;
        }
        let mut state = read.as_ref().map(counters).unwrap_or_default();
        if let Some(slots) = slots {
            state.slots = slots.into_iter().map(SlotState::from).collect();
            let busy = state.slots.iter().filter(|slot| slot.is_processing).count();
            #[expect(clippy::cast_precision_loss, reason = "a server has few slots")]
            state.running.get_or_insert(busy as f64);
        }
        Some(state)
    }

    fn tokenize_request(&self, server: &Server, input: &TokenizeInput<'_>) -> Option<PostRequest> {
        let (path, body) = match input {
            TokenizeInput::Text(text) => {
                ("/tokenize", json!({"content": text, "add_special": false}))
            }
            TokenizeInput::UserMessage(text) => (
                "/v1/chat/completions/input_tokens",
                json!({"model": server.model.id, "messages": [{"role": "user", "content": text}]}),
            ),
        };
        Some(PostRequest {
            path: path.to_owned(),
            body: body.to_string().into_bytes(),
        })
    }

    fn read_tokenize(&self, answer: &Answer) -> Result<Tokenized, TokenizeError> {
        tokenize::read(answer)
    }
}

fn describe_props(props: Props, server: &mut Server) {
    server.slot_count = props.total_slots;
    server.slot_n_ctx = props
        .default_generation_settings
        .and_then(|settings| settings.n_ctx);
    server.model.quantization = server.model.quantization.take().or(props.model_ftype);
    server.model.root = server.model.root.take().or(props.model_path);
    let Some(label) = props.build_info else {
        return;
    };
    // `b11434-0a1b2c3`; packagers who build without git get `b0-unknown`.
    let (number, commit) = label.split_once('-').unwrap_or((&label, "unknown"));
    server.version = (number != "b0").then(|| number.to_owned());
    server.commit = (commit != "unknown").then(|| commit.to_owned());
    server.build = Some(label);
}

fn note_what_is_missing(server: &mut Server, why_no_metrics: Option<String>) {
    match (why_no_metrics, server.has_slots) {
        (None, true) => {}
        (None, false) => server.notes.push(
            "llama.cpp does not answer /slots, so tokens cannot be compared with the engine's \
             own count; start it with --slots"
                .to_owned(),
        ),
        (Some(why), true) => server.notes.push(format!(
            "{why}; the length of the queue is unknown; start llama.cpp with --metrics"
        )),
        (Some(why), false) => server.notes.push(format!(
            "{why}, nor does /slots tell: queueing is inferred from the client; start llama.cpp \
             with --metrics --slots"
        )),
    }
}

/// `tokens_predicted_total` is left out: it moves only when a request ends.
fn counters(read: &Exposition<'_>) -> EngineState {
    let processed = read.sum("llamacpp:prompt_tokens_total");
    let cached = read.sum("llamacpp:prompt_tokens_cached_total");
    let all = processed
        .zip(cached)
        .map(|(processed, cached)| processed + cached);
    EngineState {
        running: read.sum("llamacpp:requests_processing"),
        waiting: read.sum("llamacpp:requests_deferred"),
        engine_steps: read.sum("llamacpp:n_decode_total"),
        prefix_cache_queries: all,
        prefix_cache_hits: cached,
        prefill_seconds: read.sum("llamacpp:prompt_seconds_total"),
        ..EngineState::default()
    }
}

#[derive(Deserialize)]
struct Props {
    #[serde(default)]
    total_slots: Option<u32>,
    #[serde(default)]
    default_generation_settings: Option<SlotSettings>,
    #[serde(default)]
    model_ftype: Option<String>,
    #[serde(default)]
    model_path: Option<String>,
    #[serde(default)]
    build_info: Option<String>,
}

#[derive(Deserialize)]
struct SlotSettings {
    #[serde(default)]
    n_ctx: Option<u64>,
}

/// A slot of `/slots`; one that never served has only the first fields.
#[derive(Deserialize)]
struct Slot {
    id: u32,
    is_processing: bool,
    #[serde(default)]
    n_ctx: Option<u64>,
    #[serde(default)]
    id_task: Option<i64>,
    #[serde(default)]
    n_prompt_tokens: Option<u64>,
    #[serde(default)]
    n_prompt_tokens_cache: Option<u64>,
    #[serde(default)]
    next_token: Vec<NextToken>,
}

#[derive(Deserialize)]
struct NextToken {
    #[serde(default)]
    n_decoded: u64,
}

impl From<Slot> for SlotState {
    fn from(slot: Slot) -> Self {
        Self {
            slot: slot.id,
            // −1 stands for no request.
            task: slot.id_task.filter(|task| *task >= 0),
            is_processing: slot.is_processing,
            decoded_tokens: slot.next_token.iter().map(|next| next.n_decoded).sum(),
            prompt_tokens: slot.n_prompt_tokens,
            cached_prompt_tokens: slot.n_prompt_tokens_cache,
        }
    }
}
