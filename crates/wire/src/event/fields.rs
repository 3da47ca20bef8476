//! Field types that accept what servers really write, borrowing where they can.
//!
//! `Option<Cow<str>>` always copies under serde's derive, so text has its own
//! type; and `null`, numbers written as `12.0` and errors written as a plain
//! string all occur.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

use super::chunk::{Choice, ErrorCode, FunctionText, StreamError};

/// Text that may be missing, `null`, or a list of parts with a `text` each.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, null or a list of text parts")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<Text<'de>, E> {
        Ok(Text::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Text<'de>, A::Error> {
        let mut text = Text::default();
        while let Some(part) = parts.next_element::<TextPart<'de>>()? {
            text = text.then(part.text);
        }
        Ok(text)
    }
}

impl<'a> Text<'a> {
    /// This text followed by another, without a copy if either is empty.
    fn then(self, next: Self) -> Self {
        if self.0.is_empty() {
            return next;
        }
        if next.0.is_empty() {
            return self;
        }
        Text(Cow::Owned(self.0.into_owned() + &next.0))
    }
}

#[derive(Deserialize)]
struct TextPart<'a> {
    #[serde(borrow, default)]
    text: Text<'a>,
}

/// The choices of a frame, folded to the first without a list in between.
#[derive(Default)]
pub(super) struct Choices<'a> {
    /// How many there were; `None` if the frame has no `choices`.
    pub(super) count: Option<usize>,
    pub(super) first: Choice<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Choices<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ChoicesVisitor;
        impl<'de> Visitor<'de> for ChoicesVisitor {
            type Value = Choices<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of choices")
            }

            fn visit_unit<E: Error>(self) -> Result<Choices<'de>, E> {
                Ok(Choices::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Choices<'de>, A::Error> {
                let first = list.next_element::<Choice<'de>>()?;
                let mut count = usize::from(first.is_some());
                while list.next_element::<serde::de::IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Choices {
                    count: Some(count),
                    first: first.unwrap_or_default(),
                })
            }
        }
        deserializer.deserialize_any(ChoicesVisitor)
    }
}

/// Names and arguments of all tool calls of a delta, one after another.
pub(super) struct ToolCalls<'a>(pub(super) Text<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for ToolCalls<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CallsVisitor;
        impl<'de> Visitor<'de> for CallsVisitor {
            type Value = ToolCalls<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of tool calls")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ToolCalls<'de>, A::Error> {
                let mut text = Text::default();
                while let Some(call) = list.next_element::<ToolCall<'de>>()? {
                    text = text.then(
                        call.function
                            .map(FunctionText::into_text)
                            .unwrap_or_default(),
                    );
                }
                Ok(ToolCalls(text))
            }
        }
        deserializer.deserialize_seq(CallsVisitor)
    }
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow, default)]
    function: Option<FunctionText<'a>>,
}

/// A count of tokens: a whole number, also when written `12.0`.
#[derive(Clone, Copy)]
pub(super) struct Count(pub(super) u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;
        impl Visitor<'_> for CountVisitor {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count of tokens")
            }

            fn visit_u64<E: Error>(self, count: u64) -> Result<Count, E> {
                Ok(Count(count))
            }

            fn visit_f64<E: Error>(self, count: f64) -> Result<Count, E> {
                // Beyond 2^53 a float no longer tells which whole number was meant.
                if count >= 0.0 && count.fract() == 0.0 && count < 9_007_199_254_740_992.0 {
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                    return Ok(Count(count as u64));
                }
                Err(E::invalid_value(Unexpected::Float(count), &self))
            }
        }
        deserializer.deserialize_any(CountVisitor)
    }
}

/// A time in ms.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct Millis(pub(super) f64);

/// The `error` field: an object, or just a string.
pub(super) struct ErrorField<'a>(pub(super) StreamError<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for ErrorField<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ErrorVisitor;
        impl<'de> Visitor<'de> for ErrorVisitor {
            type Value = ErrorField<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an error object or its message")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(of_message(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(of_message(Cow::Owned(text.to_owned())))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let object = serde::de::value::MapAccessDeserializer::new(map);
                let object = ErrorObject::deserialize(object)?;
                Ok(ErrorField(StreamError {
                    message: object.message.0,
                    kind: object.kind.map(|kind| kind.0),
                    code: object.code.map(|code| code.0),
                }))
            }
        }
        deserializer.deserialize_any(ErrorVisitor)
    }
}

fn of_message(message: Cow<'_, str>) -> ErrorField<'_> {
    ErrorField(StreamError {
        message,
        ..StreamError::default()
    })
}

#[derive(Deserialize)]
struct ErrorObject<'a> {
    #[serde(borrow, default)]
    message: Text<'a>,
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    code: Option<Code<'a>>,
}

/// An error code: a number or a word.
pub(super) struct Code<'a>(pub(super) ErrorCode<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Code<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CodeVisitor;
        impl<'de> Visitor<'de> for CodeVisitor {
            type Value = Code<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an error code")
            }

            fn visit_i64<E: Error>(self, code: i64) -> Result<Self::Value, E> {
                Ok(Code(ErrorCode::Number(code)))
            }

            fn visit_u64<E: Error>(self, code: u64) -> Result<Self::Value, E> {
                Ok(Code(ErrorCode::Number(
                    i64::try_from(code).unwrap_or(i64::MAX),
                )))
            }

            fn visit_borrowed_str<E: Error>(self, code: &'de str) -> Result<Self::Value, E> {
                Ok(Code(ErrorCode::Word(Cow::Borrowed(code))))
            }

            fn visit_str<E: Error>(self, code: &str) -> Result<Self::Value, E> {
                Ok(Code(ErrorCode::Word(Cow::Owned(code.to_owned()))))
            }
        }
        deserializer.deserialize_any(CodeVisitor)
    }
}
