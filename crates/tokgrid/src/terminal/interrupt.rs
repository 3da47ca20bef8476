//! Ctrl-C, however it arrives: as a signal, or as a key where the live view
//! has put the terminal into raw mode.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use super::live;

/// Exit status after a second Ctrl-C: 128 + SIGINT, as shells have it.
const EXIT_INTERRUPTED: i32 = 130;

/// Turns the first request to stop into a cancel, the second into an exit.
#[derive(Clone)]
pub(super) struct Interrupt {
    cancel: watch::Sender<bool>,
    requested: Arc<AtomicBool>,
}

impl Interrupt {
    pub(super) fn new(cancel: watch::Sender<bool>) -> Interrupt {
        Interrupt {
            cancel,
            requested: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Whether a person has asked for the run to stop.
    pub(super) fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// Asks the run to stop; asking again changes nothing.
    pub(super) fn stop(&self) {
        self.requested.store(true, Ordering::Relaxed);
        self.cancel.send_replace(true);
    }

    /// Asks the run to stop; when that was asked before, leaves at once.
    pub(super) fn stop_or_exit(&self) {
        if self.is_requested() {
            live::release_screen();
            std::process::exit(EXIT_INTERRUPTED);
        }
        self.stop();
    }

    /// Listens for signals as long as the runtime lives. Where a signal cannot
    /// be listened to, its default (the program ends) stays.
    pub(super) async fn watch_signals(self) {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let (Ok(mut interrupts), Ok(mut terminations)) = (
                signal(SignalKind::interrupt()),
                signal(SignalKind::terminate()),
            ) else {
                return;
            };
            loop {
                tokio::select! {
                    Some(()) = interrupts.recv() => self.stop_or_exit(),
                    Some(()) = terminations.recv() => self.stop_or_exit(),
                    else => return,
                }
            }
        }
        #[cfg(not(unix))]
        while tokio::signal::ctrl_c().await.is_ok() {
            self.stop_or_exit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopping_is_told_to_the_run_and_q_twice_does_not_exit() {
        let (cancel, cancelled) = watch::channel(false);
        let interrupt = Interrupt::new(cancel);
        assert!(!interrupt.is_requested());
        interrupt.stop();
        interrupt.stop();
        assert!(interrupt.is_requested());
        assert!(*cancelled.borrow());
    }
}
