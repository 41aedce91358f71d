//! The whole terminal as a screen: cleared and drawn anew, with keys read one by one. Without a terminal there is no screen,
//! and what is drawn is simply printed.

use std::io::{self, IsTerminal as _, Read as _, Write as _};

use tokio::sync::mpsc;

use super::Output;
use crate::error::CliError;

/// The screen of a command that goes on until somebody quits.
pub(crate) struct Screen {
    is_terminal: bool,
    keys: Option<mpsc::Receiver<u8>>,
    saved: Option<SavedTerminal>,
}

impl Screen {
    pub(crate) fn open(output: &Output) -> Self {
        let is_terminal = io::stdout().is_terminal() && !output.is_json();
        let saved = (is_terminal && io::stdin().is_terminal()).then(SavedTerminal::unbuffered).flatten();
        let keys = saved.is_some().then(read_keys);
        Self { is_terminal, keys, saved }
    }

    pub(crate) fn clear(&self) -> Result<(), CliError> {
        if self.is_terminal {
            let mut stdout = io::stdout().lock();
            stdout.write_all(b"\x1b[H\x1b[2J")?;
            stdout.flush()?;
        }
        Ok(())
    }

    /// Prints a last line, where keys are read.
    pub(crate) fn hint(&self, text: &str) -> Result<(), CliError> {
        if self.saved.is_some() {
            let mut stdout = io::stdout().lock();
            writeln!(stdout, "\n{text}")?;
        }
        Ok(())
    }

    /// Ends when somebody presses `q`. Never without a terminal.
    pub(crate) async fn quit(&mut self) {
        match &mut self.keys {
            Some(keys) => {
                while let Some(key) = keys.recv().await {
                    if key == b'q' {
                        return;
                    }
                }
                std::future::pending().await
            }
            None => std::future::pending().await,
        }
    }
}

/// Reads keys on a thread of its own, which ends with the process.
fn read_keys() -> mpsc::Receiver<u8> {
    const WAITING_KEYS: usize = 16;
    let (send, keys) = mpsc::channel(WAITING_KEYS);
    let read = move || {
        let mut key = [0];
        while io::stdin().lock().read_exact(&mut key).is_ok() && send.blocking_send(key[0]).is_ok() {}
    };
    let _ = std::thread::Builder::new().name("keys".to_owned()).spawn(read);
    keys
}

/// The settings of the terminal as they were; they come back when this is dropped.
pub(crate) struct SavedTerminal {
    #[cfg(unix)]
    before: rustix::termios::Termios,
}

impl SavedTerminal {
    /// Makes the terminal hand on every key at once and show none.
    fn unbuffered() -> Option<Self> {
        #[cfg(unix)]
        return Self::without(rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ECHO);
        #[cfg(not(unix))]
        None
    }

    /// Makes the terminal show nothing of what is typed.
    pub(crate) fn without_echo() -> Option<Self> {
        #[cfg(unix)]
        return Self::without(rustix::termios::LocalModes::ECHO);
        #[cfg(not(unix))]
        None
    }

    /// The settings as they are now.
    pub(crate) fn unchanged() -> Option<Self> {
        #[cfg(unix)]
        return rustix::termios::tcgetattr(io::stdin()).ok().map(|before| Self { before });
        #[cfg(not(unix))]
        None
    }

    /// Forgets what was typed and not read.
    pub(crate) fn discard_typed() {
        #[cfg(unix)]
        let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
    }

    #[cfg(unix)]
    fn without(modes: rustix::termios::LocalModes) -> Option<Self> {
        use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin()).ok()?;
        let mut changed = before.clone();
        changed.local_modes.remove(modes);
        tcsetattr(io::stdin(), OptionalActions::Now, &changed).ok()?;
        Some(Self { before })
    }
}

impl Drop for SavedTerminal {
    fn drop(&mut self) {
        #[cfg(unix)]
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &self.before);
    }
}
