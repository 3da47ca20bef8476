//! Ways to misbehave on request.

use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::text::{TextKind, mix};

/// Where reasoning text is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningField {
    /// `delta.reasoning_content`.
    ReasoningContent,
    /// `delta.reasoning`.
    Reasoning,
}

/// One way to misbehave.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultKind {
    /// Drops the connection after some events.
    DieMidStream {
        /// Events with tokens sent before.
        after: u64,
    },
    /// Sends nothing more after some events, and keeps the connection.
    StallMidStream {
        /// Events with tokens sent before.
        after: u64,
    },
    /// Reads the request and never answers.
    NeverAnswer,
    /// Answers with status 500.
    Status500,
    /// Sends an `error` object inside a 200 stream.
    ErrorInStream {
        /// Events with tokens sent before.
        after: u64,
    },
    /// Writes text of multi-byte characters and cuts events inside them.
    SplitUtf8,
    /// Never says how many tokens there were.
    NoUsage,
    /// Says how many tokens there were long after the last one.
    LateUsage {
        /// How long after, ms.
        ms: u64,
    },
    /// Sends events that only name a role before the first token.
    RoleOnlyFirst {
        /// How many, beyond the usual one.
        count: u64,
    },
    /// Begins with reasoning text.
    Reasoning {
        /// Where it is put.
        field: ReasoningField,
        /// Tokens of reasoning; 0 for the whole answer.
        tokens: u64,
    },
    /// Holds the last tokens back and sends them with the finish reason.
    TokensWithFinish {
        /// How many tokens.
        tokens: u64,
    },
    /// Sends the finish reason in an event of its own.
    FinishApart,
    /// Sends the whole answer in one event.
    AllAtOnce,
    /// Requests that are none of the client's run all the time.
    Leftover {
        /// How many.
        count: u64,
    },
    /// A proxy's page instead of JSON, on every route.
    Html,
    /// A proxy's page instead of metrics only.
    HtmlMetrics,
    /// Repeats a few words over and over.
    LoopingText,
    /// Ends the answer early, as if the model had finished.
    EarlyStop {
        /// Tokens of the answer.
        after: u64,
    },
    /// Ends the stream without `[DONE]`.
    NoDone,
    /// Sends comments between events.
    KeepAlive {
        /// Events between two comments.
        events: u64,
    },
}

/// Something that goes wrong, and for which requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// Every how many requests, 1 for all.
    pub every: u64,
    /// With which probability, 0 to 1, for those.
    pub probability: f64,
    /// Requests served well before.
    pub skip: u64,
}

impl Fault {
    /// A fault of every request.
    #[must_use]
    pub fn always(kind: FaultKind) -> Fault {
        Fault {
            kind,
            every: 1,
            probability: 1.0,
            skip: 0,
        }
    }

    /// Whether request number `number` (from 0) is one of those.
    #[must_use]
    pub fn strikes(&self, number: u64, seed: u64) -> bool {
        let Some(past_skip) = number.checked_sub(self.skip) else {
            return false;
        };
        let chance = mix(seed ^ mix(number)) as f64 / u64::MAX as f64;
        (past_skip + 1).is_multiple_of(self.every.max(1)) && chance < self.probability
    }
}

/// Names of all faults with their parameters, for help and errors.
pub const FAULT_NAMES: &[(&str, &str)] = &[
    ("die-mid-stream", "after=EVENTS"),
    ("stall-mid-stream", "after=EVENTS"),
    ("never-answer", ""),
    ("status-500", ""),
    ("error-in-stream", "after=EVENTS"),
    ("split-utf8", ""),
    ("no-usage", ""),
    ("late-usage", "ms=MS"),
    ("role-only-first", "count=EVENTS"),
    ("reasoning-content", "tokens=TOKENS"),
    ("reasoning", "tokens=TOKENS"),
    ("tokens-with-finish", "tokens=TOKENS"),
    ("finish-apart", ""),
    ("all-at-once", ""),
    ("leftover", "count=REQUESTS"),
    ("html", ""),
    ("html-metrics", ""),
    ("looping-text", ""),
    ("early-stop", "after=TOKENS"),
    ("no-done", ""),
    ("keep-alive", "events=EVENTS"),
];

/// A fault that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FaultError {
    /// No fault has this name.
    #[error("there is no fault {name:?}; there are: {}", fault_list())]
    UnknownName {
        /// What was given.
        name: String,
    },
    /// The fault takes no such parameter.
    #[error(
        "fault {name} takes no parameter {key:?}; every fault takes every, probability and skip{}",
        own_parameter(name)
    )]
    UnknownParameter {
        /// The fault.
        name: String,
        /// The parameter.
        key: String,
    },
    /// A parameter's value is not a number in its range.
    #[error("fault {name}: {key}={value:?} is not a number it can use")]
    BadValue {
        /// The fault.
        name: String,
        /// The parameter.
        key: String,
        /// What was given.
        value: String,
    },
}

fn fault_list() -> String {
    let names: Vec<&str> = FAULT_NAMES.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

fn own_parameter(name: &str) -> String {
    match FAULT_NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, parameter)) if !parameter.is_empty() => format!(", and this one {parameter}"),
        Some(_) | None => String::new(),
    }
}

/// Parameters of a fault as written: `key=value` pairs, each used once.
struct Parameters<'a> {
    name: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Parameters<'a> {
    fn number<T: FromStr + PartialOrd + Default>(
        &mut self,
        key: &str,
        default: T,
    ) -> Result<T, FaultError> {
        let Some(at) = self.pairs.iter().position(|(known, _)| *known == key) else {
            return Ok(default);
        };
        let (_, value) = self.pairs.remove(at);
        match value.parse::<T>() {
            Ok(number) if number >= T::default() => Ok(number),
            Ok(_) | Err(_) => Err(FaultError::BadValue {
                name: self.name.to_owned(),
                key: key.to_owned(),
                value: value.to_owned(),
            }),
        }
    }

    fn none_left(&self) -> Result<(), FaultError> {
        match self.pairs.first() {
            None => Ok(()),
            Some((key, _)) => Err(FaultError::UnknownParameter {
                name: self.name.to_owned(),
                key: (*key).to_owned(),
            }),
        }
    }
}

impl FromStr for Fault {
    type Err = FaultError;

    /// Reads `name` or `name:key=value,key=value`.
    fn from_str(text: &str) -> Result<Fault, FaultError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let pairs = rest
            .split(',')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .collect();
        let mut parameters = Parameters { name, pairs };
        let kind = kind(name, &mut parameters)?;
        let fault = Fault {
            kind,
            every: parameters.number("every", 1)?,
            probability: parameters.number("probability", 1.0)?,
            skip: parameters.number("skip", 0)?,
        };
        parameters.none_left()?;
        Ok(fault)
    }
}

fn kind(name: &str, parameters: &mut Parameters<'_>) -> Result<FaultKind, FaultError> {
    Ok(match name {
        "die-mid-stream" => FaultKind::DieMidStream {
            after: parameters.number("after", 20)?,
        },
        "stall-mid-stream" => FaultKind::StallMidStream {
            after: parameters.number("after", 20)?,
        },
        "never-answer" => FaultKind::NeverAnswer,
        "status-500" => FaultKind::Status500,
        "error-in-stream" => FaultKind::ErrorInStream {
            after: parameters.number("after", 20)?,
        },
        "split-utf8" => FaultKind::SplitUtf8,
        "no-usage" => FaultKind::NoUsage,
        "late-usage" => FaultKind::LateUsage {
            ms: parameters.number("ms", 3000)?,
        },
        "role-only-first" => FaultKind::RoleOnlyFirst {
            count: parameters.number("count", 3)?,
        },
        "reasoning-content" => FaultKind::Reasoning {
            field: ReasoningField::ReasoningContent,
            tokens: parameters.number("tokens", 32)?,
        },
        "reasoning" => FaultKind::Reasoning {
            field: ReasoningField::Reasoning,
            tokens: parameters.number("tokens", 32)?,
        },
        "tokens-with-finish" => FaultKind::TokensWithFinish {
            tokens: parameters.number("tokens", 8)?,
        },
        "finish-apart" => FaultKind::FinishApart,
        "all-at-once" => FaultKind::AllAtOnce,
        "leftover" => FaultKind::Leftover {
            count: parameters.number("count", 2)?,
        },
        "html" => FaultKind::Html,
        "html-metrics" => FaultKind::HtmlMetrics,
        "looping-text" => FaultKind::LoopingText,
        "early-stop" => FaultKind::EarlyStop {
            after: parameters.number("after", 100)?,
        },
        "no-done" => FaultKind::NoDone,
        "keep-alive" => FaultKind::KeepAlive {
            events: parameters.number("events", 5)?,
        },
        unknown => {
            return Err(FaultError::UnknownName {
                name: unknown.to_owned(),
            });
        }
    })
}

/// What an answer says of its token count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UsageManner {
    /// What the client asked for.
    #[default]
    AsAsked,
    /// Nothing.
    Never,
    /// The last word on it comes late.
    Late(Duration),
}

/// How one request is answered: all faults that strike it, put together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Behaviour {
    /// Events with tokens after which the connection drops.
    pub die_after: Option<u64>,
    /// Events with tokens after which nothing comes.
    pub stall_after: Option<u64>,
    /// Events with tokens after which an error object comes.
    pub error_after: Option<u64>,
    /// Nothing is answered at all.
    pub never_answer: bool,
    /// The answer is a status 500.
    pub status_500: bool,
    /// Events are cut inside characters.
    pub split_utf8: bool,
    /// What is said of the token count.
    pub usage: UsageManner,
    /// Role-only events beyond the usual one.
    pub role_only_events: u64,
    /// Where reasoning goes, and how many tokens of it there are (0: all).
    pub reasoning: Option<(ReasoningField, u64)>,
    /// Last tokens that are held back until the finish.
    pub hold_back: u64,
    /// The finish reason has its own event.
    pub finish_apart: bool,
    /// A proxy's page is answered.
    pub html: bool,
    /// What kind of text is written.
    pub text: TextKind,
    /// Tokens after which the model stops.
    pub stop_after: Option<u64>,
    /// The stream ends without `[DONE]`.
    pub no_done: bool,
    /// Events between two comments.
    pub keep_alive_events: Option<u64>,
}

impl Behaviour {
    /// What the faults that strike request `number` (from 0) make of its answer.
    #[must_use]
    pub fn of_request(faults: &[Fault], number: u64, seed: u64) -> Behaviour {
        let mut behaviour = Behaviour::default();
        for (at, fault) in faults.iter().enumerate() {
            if fault.strikes(number, seed ^ mix(at as u64)) {
                behaviour.add(&fault.kind);
            }
        }
        behaviour
    }

    fn add(&mut self, kind: &FaultKind) {
        match *kind {
            FaultKind::DieMidStream { after } => self.die_after = Some(after),
            FaultKind::StallMidStream { after } => self.stall_after = Some(after),
            FaultKind::ErrorInStream { after } => self.error_after = Some(after),
            FaultKind::NeverAnswer => self.never_answer = true,
            FaultKind::Status500 => self.status_500 = true,
            FaultKind::SplitUtf8 => {
                self.split_utf8 = true;
                self.text = TextKind::Multibyte;
            }
            FaultKind::NoUsage => self.usage = UsageManner::Never,
            FaultKind::LateUsage { ms } => {
                self.usage = UsageManner::Late(Duration::from_millis(ms));
            }
            FaultKind::RoleOnlyFirst { count } => self.role_only_events = count,
            FaultKind::Reasoning { field, tokens } => self.reasoning = Some((field, tokens)),
            FaultKind::TokensWithFinish { tokens } => self.hold_back = tokens,
            FaultKind::AllAtOnce => self.hold_back = u64::MAX,
            FaultKind::FinishApart => self.finish_apart = true,
            FaultKind::Html => self.html = true,
            FaultKind::LoopingText => self.text = TextKind::Looping,
            FaultKind::EarlyStop { after } => self.stop_after = Some(after),
            FaultKind::NoDone => self.no_done = true,
            FaultKind::KeepAlive { events } => self.keep_alive_events = Some(events.max(1)),
            // These concern the whole server.
            FaultKind::Leftover { .. } | FaultKind::HtmlMetrics => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_with_their_parameters() {
        let fault: Fault = "die-mid-stream:after=7,every=3,skip=2".parse().unwrap();
        assert_eq!(fault.kind, FaultKind::DieMidStream { after: 7 });
        let struck: Vec<u64> = (0..12).filter(|n| fault.strikes(*n, 1)).collect();
        assert_eq!(struck, [4, 7, 10]);
    }

    #[test]
    fn every_listed_name_is_known() {
        for (name, _) in FAULT_NAMES {
            assert!(name.parse::<Fault>().is_ok(), "{name}");
        }
    }

    #[test]
    fn a_probability_strikes_about_that_share() {
        let fault: Fault = "status-500:probability=0.25".parse().unwrap();
        let struck = (0..4000).filter(|n| fault.strikes(*n, 9)).count();
        assert!((800..1200).contains(&struck), "{struck}");
    }

    #[test]
    fn what_cannot_be_read_is_refused_and_said() {
        let unknown = "explode".parse::<Fault>().unwrap_err().to_string();
        assert!(unknown.contains("die-mid-stream"), "{unknown}");
        let parameter = "late-usage:after=3"
            .parse::<Fault>()
            .unwrap_err()
            .to_string();
        assert!(parameter.contains("ms=MS"), "{parameter}");
        assert!("late-usage:ms=soon".parse::<Fault>().is_err());
        assert!("die-mid-stream:after=-1".parse::<Fault>().is_err());
    }
}
