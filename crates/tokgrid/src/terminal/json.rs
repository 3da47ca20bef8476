//! `--json`: one event a line on stdout, and nothing else.

use std::io::{self, Write};

use load::Progress;
use tokio::sync::mpsc::UnboundedReceiver;

/// Writes every event until the run ends. When nobody reads any more the run
/// goes on, for the document it writes.
pub(super) fn show(events: &mut UnboundedReceiver<Progress>) {
    let mut told_of_loss = false;
    while let Some(event) = events.blocking_recv() {
        if told_of_loss {
            continue;
        }
        if let Err(error) = write_event(&event, &mut io::stdout().lock()) {
            told_of_loss = true;
            // The last resort: when stderr is gone too, nobody is left to tell.
            let _ = writeln!(
                io::stderr(),
                "tokgrid: events can no longer be written to stdout ({error}); the run goes on"
            );
        }
    }
}

fn write_event(event: &Progress, out: &mut impl Write) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::super::scripted;
    use super::*;

    #[test]
    fn every_event_is_one_line_of_json_that_names_itself() {
        let mut out = Vec::new();
        let events = scripted::run();
        for event in &events {
            write_event(event, &mut out).unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), events.len());
        for line in text.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(value["event"].is_string(), "{line}");
        }
    }

    #[test]
    fn what_is_not_known_is_null_in_an_event() {
        let mut out = Vec::new();
        let tick = load::Tick {
            tok_s: Some(f64::NAN),
            ..scripted::tick(1.0)
        };
        write_event(&Progress::Tick(tick), &mut out).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert!(value["tok_s"].is_null());
        assert!(value["kv_used"].is_number());
    }
}
