//! SIGINT: the other way in which a frontend or a terminal asks for an interrupt.
//!
//! The handler is installed before anything else and never ends the process. What an interrupt means
//! is set later, by whoever runs cells; until then it is dropped.

use std::sync::OnceLock;

type Action = Box<dyn Fn() + Send + Sync>;

static ACTION: OnceLock<Action> = OnceLock::new();

/// Sets what an interrupt does. The first call wins.
pub fn on_interrupt(action: impl Fn() + Send + Sync + 'static) {
    let _ = ACTION.set(Box::new(action));
}

/// Takes SIGINT over. On a failure the default stays: the process ends.
#[cfg(unix)]
pub fn install() {
    use std::os::unix::net::UnixStream;

    let Ok((read, write)) = UnixStream::pair() else { return };
    if signal_hook::low_level::pipe::register(signal_hook::consts::SIGINT, write).is_ok() {
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(|| listen(read));
    }
}

/// There is no SIGINT to take over: frontends send `interrupt_request`.
#[cfg(not(unix))]
pub fn install() {}

#[cfg(unix)]
fn listen(mut read: std::os::unix::net::UnixStream) {
    use std::io::{ErrorKind, Read};

    let mut bytes = [0; 64];
    loop {
        match read.read(&mut bytes) {
            Ok(0) => return,
            Ok(_) => {
                if let Some(action) = ACTION.get() {
                    action();
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
