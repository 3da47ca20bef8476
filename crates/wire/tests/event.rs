//! Frames as real engines write them, and the odd ones.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::borrow::Cow;

use wire::event::{ErrorCode, Payload, PromptProgress, StreamError, StreamEvent, Usage, parse};
use wire::sse::SseDecoder;

fn chunk(json: &str) -> StreamEvent<'_> {
    match parse(json.as_bytes()).unwrap() {
        Payload::Chunk(event) => event,
        other @ (Payload::Done | Payload::Error(_)) => panic!("{json}: {other:?}"),
    }
}

fn error(json: &str) -> StreamError<'_> {
    match parse(json.as_bytes()).unwrap() {
        Payload::Error(error) => error,
        other @ (Payload::Done | Payload::Chunk(_)) => panic!("{json}: {other:?}"),
    }
}

/// What a client counts of a whole recorded stream.
#[derive(Debug, Default, PartialEq)]
struct Told {
    text: String,
    token_events: usize,
    silent_events: usize,
    cumulative: Vec<u64>,
    finish: Option<String>,
    usage: Option<Usage>,
    done: bool,
}

fn replay(stream: &[u8]) -> Told {
    let mut told = Told::default();
    let mut decoder = SseDecoder::new();
    decoder
        .feed(stream, |event| match parse(event.data).unwrap() {
            Payload::Done => told.done = true,
            Payload::Error(error) => panic!("{error:?}"),
            Payload::Chunk(event) => {
                told.text.push_str(&event.content);
                if event.carries_token() {
                    told.token_events += 1;
                    told.cumulative.extend(event.output_tokens_so_far());
                } else {
                    told.silent_events += 1;
                }
                told.finish = event
                    .finish_reason
                    .map(Cow::into_owned)
                    .or(told.finish.take());
                told.usage = event.usage.or(told.usage);
            }
        })
        .unwrap();
    told
}

#[test]
fn vllm_chat_with_continuous_usage_counts_every_token() {
    let told = replay(include_bytes!(
        "fixtures/vllm-chat-stream-continuous-usage.sse"
    ));
    let usage = Usage {
        prompt_tokens: Some(12),
        completion_tokens: Some(6),
        ..Usage::default()
    };
    let expected = Told {
        text: "WAIT libraries18nectionforksocket".into(),
        token_events: 6,
        silent_events: 2,
        cumulative: vec![1, 2, 3, 4, 5, 6],
        finish: Some("length".into()),
        usage: Some(usage),
        done: true,
    };
    assert_eq!(told, expected);
}

#[test]
fn vllm_completions_end_with_text_and_finish_in_one_event() {
    let told = replay(include_bytes!("fixtures/vllm-completions-stream.sse"));
    assert_eq!(
        (told.token_events, told.finish.as_deref()),
        (4, Some("length"))
    );
    assert_eq!(told.usage.unwrap().completion_tokens, Some(4));
}

#[test]
fn llama_cpp_begins_with_null_content_and_ends_with_timings() {
    let told = replay(include_bytes!("fixtures/llama.cpp-chat-stream.sse"));
    assert_eq!((told.token_events, told.silent_events), (6, 3));
    assert_eq!(told.usage.unwrap().cached_tokens, Some(0));
}

#[test]
fn llama_cpp_timings_per_token_count_the_tokens() {
    let event = chunk(concat!(
        r#"{"choices":[{"finish_reason":null,"index":0,"delta":{"content":"hi"}}],"timings":"#,
        r#"{"cache_n":3,"prompt_n":32,"prompt_ms":274.9,"predicted_n":1,"predicted_ms":0.001}}"#,
    ));
    assert_eq!(
        (event.output_tokens_so_far(), event.cached_tokens()),
        (Some(1), Some(3))
    );
    assert_eq!(event.timings.unwrap().prompt_ms, Some(274.9));
}

#[test]
fn llama_cpp_prompt_progress_is_no_token() {
    let event = chunk(concat!(
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}],"#,
        r#""prompt_progress":{"total":32,"cache":0,"processed":16,"time_ms":9}}"#,
    ));
    let progress = PromptProgress {
        total: Some(32),
        cache: Some(0),
        processed: Some(16),
    };
    assert_eq!(
        (event.carries_token(), event.prompt_progress),
        (false, Some(progress))
    );
}

#[test]
fn role_only_empty_and_usage_only_frames_carry_no_token() {
    for json in [
        r#"{"choices":[{"index":0,"delta":{"role":"assistant"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"choices":[{"index":0,"delta":{}}]}"#,
        r#"{"choices":[{"index":0,"text":""}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
        r#"{"choices":[{"index":0,"delta":null,"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[]}}]}"#,
    ] {
        assert!(!chunk(json).carries_token(), "{json}");
    }
}

#[test]
fn reasoning_is_read_from_either_field_and_once_from_both() {
    for json in [
        r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":"hm","content":null}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":""}}]}"#,
    ] {
        let event = chunk(json);
        assert_eq!(
            (event.reasoning.as_ref(), event.carries_answer()),
            ("hm", false),
            "{json}"
        );
    }
}

#[test]
fn tool_text_is_a_token() {
    let event = chunk(concat!(
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","#,
        r#""function":{"name":"f","arguments":"{"}},{"index":1,"function":{"arguments":"}"}}]}}]}"#,
    ));
    assert_eq!(event.tool, "f{}");
    assert!(event.carries_token());
}

#[test]
fn text_is_borrowed_unless_escaped() {
    let plain = chunk(r#"{"choices":[{"text":"né 🙂"}]}"#);
    assert!(matches!(plain.content, Cow::Borrowed("né 🙂")));
    let escaped = chunk(r#"{"choices":[{"text":"a\n\u00e9\ud83d\ude42"}]}"#);
    assert_eq!(escaped.content, "a\né🙂");
}

#[test]
fn content_as_a_list_of_parts_is_joined() {
    let event =
        chunk(r#"{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"text":"b"}]}}]}"#);
    assert_eq!(event.content, "ab");
}

#[test]
fn usage_may_hold_nulls_floats_and_unknown_fields() {
    let event = chunk(concat!(
        r#"{"choices":[],"usage":{"prompt_tokens":12.0,"completion_tokens":null,"cost":{"x":[1]},"#,
        r#""prompt_tokens_details":null,"prompt_cache_hit_tokens":4}}"#,
    ));
    let expected = Usage {
        prompt_tokens: Some(12),
        cached_tokens: Some(4),
        ..Usage::default()
    };
    assert_eq!(event.usage, Some(expected));
    assert_eq!(chunk(r#"{"choices":[],"usage":null}"#).usage, None);
}

#[test]
fn several_choices_are_counted() {
    let event = chunk(r#"{"choices":[{"index":3,"text":"a"},{"index":4,"text":"b"}]}"#);
    assert_eq!(
        (event.choices, event.index, event.content.as_ref()),
        (2, 3, "a")
    );
}

#[test]
fn every_form_of_error_inside_a_stream_is_an_error() {
    for (json, code) in [
        (
            r#"{"error":{"message":"no","type":"E","code":400}}"#,
            Some(ErrorCode::Number(400)),
        ),
        (
            r#"{"error":{"message":"no","type":"E","param":null,"code":"x"}}"#,
            Some(ErrorCode::Word("x".into())),
        ),
        (
            r#"{"object":"error","message":"no","type":"E","param":null,"code":400}"#,
            Some(ErrorCode::Number(400)),
        ),
        (r#"{"error":"no"}"#, None),
        (r#"{"detail":"no"}"#, None),
        (r#"{"choices":[],"error":{"message":"no"}}"#, None),
    ] {
        let error = error(json);
        assert_eq!((error.message.as_ref(), error.code), ("no", code), "{json}");
    }
}

#[test]
fn a_null_error_is_none() {
    assert_eq!(
        chunk(r#"{"error":null,"choices":[{"text":"a"}]}"#).content,
        "a"
    );
}

#[test]
fn done_is_recognised_with_blanks() {
    assert_eq!(parse(b" [DONE] ").unwrap(), Payload::Done);
}

#[test]
fn what_is_no_frame_is_quoted() {
    let error = parse(b"<html>oops").unwrap_err().to_string();
    assert!(
        error.contains("not a completion frame") && error.contains("<html>oops"),
        "{error}"
    );
    assert!(parse(br#"{"choices":{}}"#).is_err());
    assert!(parse(b"[]").is_err());
}

#[test]
fn llama_cpp_counts_in_every_event_on_both_routes() {
    for (stream, silent_events) in [
        (
            &include_bytes!("fixtures/llama.cpp-chat-timings-per-token.sse")[..],
            5,
        ),
        (
            &include_bytes!("fixtures/llama.cpp-completions-timings-per-token.sse")[..],
            3,
        ),
    ] {
        let told = replay(stream);
        assert_eq!(
            (told.cumulative, told.silent_events),
            (vec![1, 2, 3, 4], silent_events)
        );
        assert_eq!(told.usage.unwrap().completion_tokens, Some(4));
    }
}
