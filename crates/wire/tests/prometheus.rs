//! The exposition format, well and badly written.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use proptest::prelude::*;
use wire::prometheus::{Exposition, LineError, NotPrometheus};

fn read(text: &str) -> Exposition<'_> {
    Exposition::read(text).unwrap()
}

#[test]
fn names_labels_values_and_timestamps_are_read() {
    let text = concat!(
        "# HELP x about x\n# TYPE x gauge\n",
        "x 1\n",
        "x{} 2 \n",
        "vllm:y_total{engine=\"0\",model_name=\"a b\",} 1.5e+06 1700000000000\r\n",
        "z { a = \"1\" , b=\"\" }\t-3\n",
    );
    let read = read(text);
    let samples = &read.samples;
    assert!(read.malformed.is_empty());
    assert_eq!(
        samples.iter().map(|s| s.value).collect::<Vec<_>>(),
        [1.0, 2.0, 1.5e6, -3.0]
    );
    assert_eq!(
        (samples[2].name, samples[2].label("model_name")),
        ("vllm:y_total", Some("a b"))
    );
    assert_eq!(samples[2].timestamp, Some(1.7e12));
    assert_eq!(samples[3].label("b"), Some(""));
}

#[test]
fn label_escapes_are_resolved() {
    let read = read(r#"x{a="q\"b\\n\n",b="} 7 {"} 1"#);
    assert_eq!(read.samples[0].label("a"), Some("q\"b\\n\n"));
    assert_eq!(read.samples[0].label("b"), Some("} 7 {"));
}

#[test]
fn special_values_are_numbers() {
    let read = read("a NaN\nb +Inf\nc -Inf\nd 1e3");
    assert!(read.samples[0].value.is_nan());
    assert_eq!(read.samples[1].value, f64::INFINITY);
    assert_eq!(read.samples[2].value, f64::NEG_INFINITY);
}

#[test]
fn an_exemplar_is_not_the_sample() {
    let read = read("x_bucket{le=\"1\"} 3 # {trace=\"t\"} 0.5 1.0\n# EOF\n");
    assert_eq!(
        (read.samples[0].value, read.samples[0].timestamp),
        (3.0, None)
    );
}

#[test]
fn a_malformed_line_is_reported_and_the_others_kept() {
    let read = read("a 1\nb{c=\"d} 2\ne x\n9f 1\ng{h} 1\ni{j=\"k\" l=\"m\"} 1\nn 1 soon\na 2\n");
    assert_eq!(read.sum("a"), Some(3.0));
    let lines: Vec<usize> = read.malformed.iter().map(|line| line.line_number).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7]);
    assert_eq!(read.malformed[1].error, LineError::Value("x".into()));
    assert_eq!(
        read.malformed[1].to_string(),
        "line 3: the value is not a number: \"x\""
    );
}

#[test]
fn html_and_json_are_not_metrics() {
    for page in ["<!DOCTYPE html>\n<html>", " <html><body>", "\u{feff}<HTML>"] {
        assert_eq!(Exposition::read(page), Err(NotPrometheus::Html));
    }
    let error = Exposition::read("{\"detail\":\"Not Found\"}").unwrap_err();
    assert!(
        error.to_string().starts_with("no line is a metric"),
        "{error}"
    );
    assert_eq!(Exposition::read(""), Ok(Exposition::default()));
}

#[test]
fn sums_go_over_label_sets_and_leave_out_what_is_not_known() {
    let read = read(
        "x{e=\"0\",r=\"a\"} 1\nx{e=\"1\",r=\"a\"} 2\nx{e=\"0\",r=\"b\"} 4\ny NaN\ny 1\nz NaN\n",
    );
    assert_eq!(read.sum("x"), Some(7.0));
    assert_eq!(read.sum("y"), Some(1.0));
    assert_eq!((read.sum("z"), read.sum("none")), (None, None));
    assert_eq!(read.samples[0].label("e"), Some("0"));
}

#[derive(Debug, Clone)]
struct Written {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
    timestamp: Option<i32>,
}

impl Written {
    fn line(&self) -> String {
        let escape = |value: &str| {
            value
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n")
        };
        let labels: Vec<String> = self
            .labels
            .iter()
            .map(|(name, value)| format!("{name}=\"{}\"", escape(value)))
            .collect();
        let timestamp = self.timestamp.map(|t| format!(" {t}")).unwrap_or_default();
        format!(
            "{}{{{}}} {:?}{timestamp}\n",
            self.name,
            labels.join(","),
            self.value
        )
    }
}

fn written() -> impl Strategy<Value = Written> {
    let label = ("[a-zA-Z_][a-zA-Z0-9_]{0,8}", "[^\r]{0,12}");
    (
        "[a-zA-Z_:][a-zA-Z0-9_:]{0,16}",
        proptest::collection::vec(label, 0..4),
        any::<f64>(),
        any::<Option<i32>>(),
    )
        .prop_map(|(name, labels, value, timestamp)| Written {
            name,
            labels,
            value,
            timestamp,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_rendered_is_read_back(all in proptest::collection::vec(written(), 1..10)) {
        let text: String = all.iter().map(Written::line).collect();
        let read = Exposition::read(&text).unwrap();
        prop_assert!(read.malformed.is_empty(), "{:?}", read.malformed);
        prop_assert_eq!(read.samples.len(), all.len());
        for (sample, written) in read.samples.iter().zip(&all) {
            prop_assert_eq!(sample.name, &written.name);
            prop_assert!(sample.value == written.value || (sample.value.is_nan() && written.value.is_nan()));
            prop_assert_eq!(sample.timestamp, written.timestamp.map(f64::from));
            let labels: Vec<(String, String)> = sample
                .labels
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.to_string()))
                .collect();
            prop_assert_eq!(&labels, &written.labels);
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "(?s).{0,200}") {
        let _ = Exposition::read(&text);
    }

    #[test]
    fn near_misses_are_read_without_a_panic(text in r#"([a-z{}="\\, #0-9.+\n\t]|NaN|é){0,80}"#) {
        let _ = Exposition::read(&text);
    }
}
