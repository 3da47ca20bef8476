//! From replies to a [`Server`], or to the reason why there is none to measure.

use serde::Deserialize;

use crate::{Answer, Answers, EngineKind, ProbeRequest, ServedModel, Server};

/// The route that every OpenAI-compatible server answers.
pub(crate) const MODELS: &str = "/v1/models";

/// Most model ids that an error lists.
const MAX_LISTED_MODELS: usize = 20;

/// The requests that [`detect`] wants the replies of. None generates text.
#[must_use]
pub fn probe_requests() -> Vec<ProbeRequest> {
    let mut requests = vec![ProbeRequest {
        path: MODELS,
        is_required: true,
    }];
    for kind in EngineKind::ALL {
        for path in kind.engine().probes() {
            if requests.iter().all(|request| request.path != *path) {
                requests.push(ProbeRequest {
                    path,
                    is_required: false,
                });
            }
        }
    }
    requests
}

/// Why a server cannot be measured. Each says what came back and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DetectError {
    /// Nobody asked, or the connection failed.
    #[error("GET /v1/models got no reply")]
    NoReply,
    /// Status 401 or 403.
    #[error(
        "GET /v1/models answered {status} ({said}): the server wants another API key; give it with --api-key"
    )]
    Unauthorized {
        /// The HTTP status.
        status: u16,
        /// What the server says.
        said: String,
    },
    /// Status 503, as llama.cpp answers while it loads the model.
    #[error("GET /v1/models answered 503 ({said}): the server is not ready yet; try again later")]
    NotReady {
        /// What the server says.
        said: String,
    },
    /// Status 404 or 405, or JSON without a list of models.
    #[error(
        "GET /v1/models answered {status} ({said}): no OpenAI-compatible server; give the address in front of /v1, such as http://127.0.0.1:8000"
    )]
    NotOpenAiCompatible {
        /// The HTTP status.
        status: u16,
        /// What the server says.
        said: String,
    },
    /// Any other status that is no success.
    #[error("GET /v1/models answered {status}: {said}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the server says.
        said: String,
    },
    /// A web page.
    #[error(
        "GET /v1/models answered {said}: the address leads to a web site or a login page, not to an inference server"
    )]
    Html {
        /// The page, by its title.
        said: String,
    },
    /// Something that is not JSON.
    #[error("GET /v1/models answered no JSON ({reason}): {said}")]
    NotJson {
        /// What the JSON reader says.
        reason: String,
        /// The beginning of the reply.
        said: String,
    },
    /// An empty list of models.
    #[error("GET /v1/models lists no model: load one into the server first")]
    NoModels,
    /// The model asked for is not served.
    #[error("the server has no model {wanted:?}; it serves {}", .served.join(", "))]
    UnknownModel {
        /// The model asked for.
        wanted: String,
        /// The ids served, at most 20.
        served: Vec<String>,
    },
}

/// Says what server gave these replies to [`probe_requests`], and checks that it
/// serves `wanted_model`; without one, the first model listed is taken.
///
/// # Errors
///
/// [`DetectError`] if there is nothing to measure.
pub fn detect(answers: &Answers, wanted_model: Option<&str>) -> Result<Server, DetectError> {
    let models = read_models(answers.get(MODELS).ok_or(DetectError::NoReply)?)?;
    let model = choose(&models, wanted_model)?.clone();
    let kind = EngineKind::ALL
        .into_iter()
        .find(|kind| kind.engine().recognises(answers))
        .unwrap_or(EngineKind::OpenAiCompatible);
    let several = models.len() > 1 && wanted_model.is_none();
    let mut server = Server::new(kind, model, models);
    if several {
        let note = format!(
            "the server has {} models; {} is measured, the first it lists",
            server.models.len(),
            server.model.id
        );
        server.notes.push(note);
    }
    kind.engine().describe(answers, &mut server);
    Ok(server)
}

fn choose<'m>(
    models: &'m [ServedModel],
    wanted: Option<&str>,
) -> Result<&'m ServedModel, DetectError> {
    let Some(wanted) = wanted else {
        return models.first().ok_or(DetectError::NoModels);
    };
    let is_wanted = |model: &&ServedModel| {
        model.id == wanted || model.aliases.iter().any(|alias| alias == wanted)
    };
    models.iter().find(is_wanted).ok_or_else(|| {
        let served = models.iter().map(|model| model.id.clone());
        DetectError::UnknownModel {
            wanted: wanted.to_owned(),
            served: served.take(MAX_LISTED_MODELS).collect(),
        }
    })
}

fn read_models(answer: &Answer) -> Result<Vec<ServedModel>, DetectError> {
    let (status, said) = (answer.status, answer.sentence());
    match status {
        200..300 => {}
        401 | 403 => return Err(DetectError::Unauthorized { status, said }),
        404 | 405 => return Err(DetectError::NotOpenAiCompatible { status, said }),
        503 => return Err(DetectError::NotReady { said }),
        _ => return Err(DetectError::Refused { status, said }),
    }
    if answer.is_html() {
        return Err(DetectError::Html { said });
    }
    let value: serde_json::Value =
        serde_json::from_slice(&answer.body).map_err(|error| DetectError::NotJson {
            reason: error.to_string(),
            said: said.clone(),
        })?;
    let list = ModelList::deserialize(value)
        .map_err(|_| DetectError::NotOpenAiCompatible { status, said })?;
    if list.data.is_empty() {
        return Err(DetectError::NoModels);
    }
    Ok(list.data.into_iter().map(ServedModel::from).collect())
}

#[derive(Deserialize)]
pub(crate) struct ModelList {
    pub(crate) data: Vec<ListedModel>,
}

/// One entry of `/v1/models`, with the fields that vLLM and llama.cpp add.
#[derive(Deserialize)]
pub(crate) struct ListedModel {
    id: String,
    #[serde(default)]
    aliases: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) owned_by: Option<String>,
    #[serde(default)]
    root: Option<String>,
    #[serde(default)]
    max_model_len: Option<u64>,
    #[serde(default)]
    meta: Option<ModelMeta>,
}

/// llama.cpp's `meta`.
#[derive(Deserialize)]
struct ModelMeta {
    #[serde(default)]
    n_ctx: Option<u64>,
    #[serde(default)]
    n_params: Option<u64>,
    #[serde(default)]
    ftype: Option<String>,
}

impl From<ListedModel> for ServedModel {
    fn from(listed: ListedModel) -> Self {
        let meta = listed.meta.as_ref();
        Self {
            max_model_len: listed.max_model_len.or(meta.and_then(|meta| meta.n_ctx)),
            parameters: meta.and_then(|meta| meta.n_params),
            quantization: listed.meta.and_then(|meta| meta.ftype),
            id: listed.id,
            aliases: listed.aliases.unwrap_or_default(),
            root: listed.root,
        }
    }
}

/// Whether `/v1/models` names this owner, as engines sign their models.
pub(crate) fn is_owned_by(answers: &Answers, owner: &str) -> bool {
    answers.json::<ModelList>(MODELS).is_some_and(|list| {
        list.data
            .iter()
            .any(|model| model.owned_by.as_deref() == Some(owner))
    })
}
