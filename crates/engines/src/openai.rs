//! Any server that answers `/v1/models` and is none of the others.

use serde_json::Map;

use crate::{Answer, Answers, Engine, EngineState, Features, PostRequest, PromptCache, Server};
use crate::{Support, TokenizeError, TokenizeInput, Tokenized};

/// An OpenAI-compatible server of which nothing else is known.
pub(crate) struct OpenAiCompatible;

impl Engine for OpenAiCompatible {
    fn probes(&self) -> &'static [&'static str] {
        &[]
    }

    fn recognises(&self, _answers: &Answers) -> bool {
        true
    }

    fn describe(&self, _answers: &Answers, server: &mut Server) {
        server.notes.push(
            "the server does not say which engine it is: queueing is inferred from the client, \
             and its KV cache and limits are unknown unless /v1/models tells"
                .to_owned(),
        );
    }

    fn features(&self, _server: &Server) -> Features {
        Features {
            continuous_usage: Support::Unknown,
            one_token_per_event: Support::Unknown,
            ignore_eos: Support::Unknown,
            prompt_cache: PromptCache::Unknown,
            count_fields: Map::new(),
        }
    }

    fn state_paths(&self, _server: &Server) -> Vec<&'static str> {
        Vec::new()
    }

    fn read_state(&self, _answers: &Answers) -> Option<EngineState> {
        None
    }

    fn tokenize_request(
        &self,
        _server: &Server,
        _input: &TokenizeInput<'_>,
    ) -> Option<PostRequest> {
        None
    }

    fn read_tokenize(&self, _answer: &Answer) -> Result<Tokenized, TokenizeError> {
        Err(TokenizeError::NoRoute)
    }
}
