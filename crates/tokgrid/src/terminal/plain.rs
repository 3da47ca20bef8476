//! Calm plain lines on stderr: the server, a line for each cell, notes.

use std::io::{self, Write};

use document::{Cell, CellStatus, Phase, format};
use load::{Progress, Server};
use tokio::sync::mpsc::UnboundedReceiver;

use super::words;

/// Widest phase name (`Sustained decode`), columns.
const PHASE_WIDTH: usize = 16;
/// Widest usual place (`1019K × 128`), columns.
const PLACE_WIDTH: usize = 11;
/// Widest usual tok/s (`9,999.9`), columns.
const TOTAL_WIDTH: usize = 7;
/// Widest usual TTFT (`≥ 31,277 ms`), columns.
const TTFT_WIDTH: usize = 11;

/// Writes until the run ends. Lines that cannot be written are lost; the run
/// goes on.
pub(super) fn show(events: &mut UnboundedReceiver<Progress>) {
    while let Some(event) = events.blocking_recv() {
        let _ = write_event(&event, &mut io::stderr().lock());
    }
}

/// Writes the lines of one event; most have none.
pub(super) fn write_event(event: &Progress, out: &mut impl Write) -> io::Result<()> {
    match event {
        Progress::Detected(server) => writeln!(out, "{}", detected(server)),
        Progress::Planned {
            cells,
            kept,
            estimated_s,
        } => {
            write!(out, "{}", words::plural(cells.len(), "cell"))?;
            if !kept.is_empty() {
                let count = format::count(kept.len() as u64);
                write!(out, ", {count} kept from the earlier run")?;
            }
            writeln!(out, ", about {}", words::about(*estimated_s))
        }
        Progress::Note { at_s, text } => note(*at_s, text, out),
        Progress::CellFinished { cell, done, of, .. } => write_cell(cell, *done, *of, out),
        Progress::Finished { at_s, interrupted } => {
            let clock = words::clock(*at_s);
            if *interrupted {
                writeln!(
                    out,
                    "Stopped after {clock}; what was measured until then is kept."
                )
            } else {
                writeln!(out, "Finished after {clock}.")
            }
        }
        Progress::CellStarted { .. } | Progress::StageEntered { .. } | Progress::Tick(_) => Ok(()),
    }
}

/// Writes a note as it stands between the cells' lines.
pub(super) fn note(at_s: f64, text: &str, out: &mut impl Write) -> io::Result<()> {
    let clock = words::clock(at_s);
    writeln!(out, "{clock:>7}  {}", words::one_line(text))
}

fn detected(server: &Server) -> String {
    let mut line = server.engine.clone();
    if let Some(version) = &server.version {
        line.push_str(&format!(" {version}"));
    }
    line.push_str(&format!(" at {} serves {}", server.url, server.model));
    let limits = [
        server
            .max_model_len
            .map(|tokens| format!("up to {} tokens", format::count(tokens))),
        server
            .max_num_seqs
            .map(|seqs| format!("{} at once", words::plural(seqs as usize, "request"))),
        server
            .kv_cache_tokens
            .map(|tokens| format!("KV cache of {} tokens", format::count(tokens))),
    ];
    for limit in limits.into_iter().flatten() {
        line.push_str(&format!(", {limit}"));
    }
    words::one_line(&line)
}

fn write_cell(cell: &Cell, done: usize, of: usize, out: &mut impl Write) -> io::Result<()> {
    let counter = format!("{done}/{of}");
    let phase = words::phase(cell.phase);
    let key = cell.key();
    // Contexts line up, and so do the concurrencies after them.
    let place = match key.phase {
        Phase::Prefill => format!("{:>5}", words::place(key)),
        Phase::Decode => format!(
            "{:>5} × {}",
            format::context(key.context_tokens),
            key.concurrency
        ),
    };
    write!(
        out,
        "{counter:>7}  {phase:<PHASE_WIDTH$}  {place:<PLACE_WIDTH$}"
    )?;
    match cell.status {
        CellStatus::Valid | CellStatus::Queued => {
            let total = format::or_nothing(cell.total_tok_s, format::tok_s);
            let ttft = words::ttft(cell);
            let title = cell.status.title();
            writeln!(
                out,
                "  {total:>TOTAL_WIDTH$} tok/s  TTFT {ttft:>TTFT_WIDTH$}  {title}"
            )?;
        }
        CellStatus::OverCapacity => writeln!(out, "  {}, not run", cell.status.title())?,
        CellStatus::Failed => {
            let reason = cell.reason.as_deref().unwrap_or("no reason was told");
            writeln!(out, "  Failed: {}", words::one_line(reason))?;
        }
    }
    for flag in &cell.flags {
        let evidence = words::one_line(&flag.evidence);
        writeln!(out, "{:>7}  {}: {evidence}", "", flag.name.as_str())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::scripted;
    use super::*;

    fn plain(events: &[Progress]) -> String {
        let mut out = Vec::new();
        for event in events {
            write_event(event, &mut out).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_run_in_plain_lines() {
        insta::assert_snapshot!(plain(&scripted::run()));
    }

    #[test]
    fn ticks_and_stages_write_nothing() {
        let events = scripted::until(0);
        let without: Vec<Progress> = scripted::start();
        assert_eq!(plain(&events), plain(&without));
    }

    #[test]
    fn an_interrupted_run_says_that_it_keeps_what_it_has() {
        let stopped = plain(&[Progress::Finished {
            at_s: 61.0,
            interrupted: true,
        }]);
        assert_eq!(
            stopped,
            "Stopped after 1:01; what was measured until then is kept.\n"
        );
    }
}
