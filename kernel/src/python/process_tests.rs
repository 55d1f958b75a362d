//! Processes that are started, answer, are stopped, and end in every way.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;

/// The other side as far as these tests need it: `frame()`, `answer(bytes)`, and a thread that watches the lifeline.
const PRELUDE: &str = r#"
import os, signal, sys, threading, time

channel, lifeline = os.dup(0), os.dup(1)
os.dup2(2, 1)
shared = os.open(os.environ["NOTEGRAD_SHARED"], os.O_RDWR)

def exactly(size):
    part = b""
    while len(part) < size:
        more = os.read(channel, size - len(part))
        if not more:
            sys.exit(0)
        part += more
    return part

def frame():
    return exactly(int.from_bytes(exactly(4), "little"))

def answer(data):
    os.write(channel, len(data).to_bytes(4, "little") + data)

def watch():
    while os.read(lifeline, 1):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    os._exit(0)

signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=watch, daemon=True).start()
answer(f"{sys.version.split()[0]}\n{sys.executable}".encode())
"#;

/// Answers every frame with itself.
const ECHO: &str = "while True: answer(frame())";

fn python() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|it| it.join("python3")).find(|it| it.exists()).unwrap()
}

fn try_start(python: &Path, program: &str) -> Result<Process, Lost> {
    Process::start(python, program, &InterruptFlag::default())
}

/// A process that runs what follows the prelude.
fn start(program: &str) -> Process {
    try_start(&python(), &format!("{PRELUDE}\n{program}")).unwrap()
}

fn ask(process: &mut Process, text: &str) -> Vec<u8> {
    process.send(text.as_bytes()).unwrap();
    match process.receive().unwrap() {
        Arrival::Frame(frame) => frame,
        Arrival::Raw(text) => panic!("{text}"),
    }
}

/// The words about the end, and all output before them.
fn end_of(process: &mut Process) -> (String, String) {
    let mut output = String::new();
    loop {
        match process.receive() {
            Ok(Arrival::Raw(text)) => output += &text,
            Ok(Arrival::Frame(frame)) => panic!("{frame:?}"),
            Err(lost) => return (lost.0, output),
        }
    }
}

fn id(process: &Process) -> u32 {
    let State::Runs(child) = &process.life.state else { panic!("it has ended") };
    child.id()
}

/// Whether there is such a process, or what is left of one.
fn exists(id: u32) -> bool {
    let listed = Command::new("ps").args(["-p", &id.to_string()]).output();
    listed.map_or_else(|_| Path::new(&format!("/proc/{id}")).exists(), |it| it.status.success())
}

/// Sets the flag after a while.
fn stop_after(process: &Process, seconds: f64) {
    let flag = process.life.flag.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_secs_f64(seconds));
        flag.store(true, Ordering::Relaxed);
    });
}

#[test]
fn frames_go_there_and_back() {
    let mut process = start(ECHO);
    let about = process.about().clone();
    assert!(about.version.starts_with("3.") && about.path.contains("python"), "{about:?}");
    assert!(about.seconds > 0.0 && about.seconds < 20.0, "{about:?}");
    let large = "abc".repeat(1_000_000);
    for text in ["a", "", "b", &large, "c"] {
        assert!(ask(&mut process, text) == text.as_bytes());
    }
}

#[test]
fn output_comes_before_the_answer() {
    let program = "while True: data = frame(); os.system(f'echo {data.decode()}'); answer(data)";
    let mut process = start(program);
    for round in 0..20 {
        process.send(round.to_string().as_bytes()).unwrap();
        assert_eq!(process.receive().unwrap(), Arrival::Raw(format!("{round}\n")));
        assert_eq!(process.receive().unwrap(), Arrival::Frame(round.to_string().into()));
    }
}

#[test]
fn output_is_shown_while_it_computes() {
    let mut process = start("frame(); os.write(2, b'soon'); time.sleep(1); answer(b'late')");
    let begin = Instant::now();
    process.send(b"").unwrap();
    assert_eq!(process.receive().unwrap(), Arrival::Raw("soon".to_owned()));
    assert!(begin.elapsed() < Duration::from_millis(900));
    assert_eq!(process.receive().unwrap(), Arrival::Frame(b"late".to_vec()));
}

#[test]
fn an_interrupt_stops_a_sleep_and_the_process_lives() {
    let program = "
while True:
    try:
        data = frame()
        time.sleep(float(data))
        answer(b'done')
    except KeyboardInterrupt:
        answer(b'stopped')";
    let mut process = start(program);
    stop_after(&process, 0.1);
    let begin = Instant::now();
    assert_eq!(ask(&mut process, "60"), b"stopped");
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert!(!process.life.flag.load(Ordering::Relaxed));
    assert_eq!(ask(&mut process, "0"), b"done");
}

#[test]
fn one_that_does_not_stop_is_ended_when_asked_again() {
    let program = "signal.signal(signal.SIGINT, signal.SIG_IGN); frame(); time.sleep(60)";
    let mut process = start(program);
    let id = id(&process);
    process.send(b"").unwrap();
    // The second time is too early to count.
    for seconds in [0.1, 0.5, 2.4] {
        stop_after(&process, seconds);
    }
    let begin = Instant::now();
    let words = end_of(&mut process).0;
    let expected = "The Python process did not stop when asked, and was ended; its objects are \
        gone. Import again to start another";
    assert_eq!(words, expected);
    let took = begin.elapsed().as_secs_f64();
    assert!(took > 2.2 && took < 10.0, "{took}");
    assert!(!exists(id));
    assert_eq!(process.send(b"").unwrap_err().0, expected);
    assert_eq!(process.receive().unwrap_err().0, expected);
}

#[test]
fn a_death_is_told() {
    let words = |program: &str| {
        let mut process = start(&format!("frame(); {program}"));
        process.send(b"").unwrap();
        let (words, output) = end_of(&mut process);
        let lost = process.send(b"").unwrap_err();
        assert_eq!(lost.0, words);
        (words.replace("; its objects are gone. Import again to start another", " ..."), output)
    };
    let exit = "os.write(2, b'1\\n2\\n3\\n4\\n5\\n6\\xc3'); os._exit(3)";
    let lines = "\nIts last output:\n    2\n    3\n    4\n    5\n    6\u{fffd}";
    let expected = format!("The Python process ended with exit status 3 ...{lines}");
    assert_eq!(words(exit), (expected, "1\n2\n3\n4\n5\n6\u{fffd}".to_owned()));

    let expected = "The Python process was killed by signal 9 (SIGKILL); the system may have run \
        out of memory ...";
    let kill = "os.kill(os.getpid(), signal.SIGKILL)";
    assert_eq!(words(kill), (expected.to_owned(), String::new()));

    let closed = "os.close(0); os.close(channel); lifeline = -1; time.sleep(60)";
    let begin = Instant::now();
    assert_eq!(words(closed).0, "The Python process ended with exit status 0 ...");
    assert!(begin.elapsed() < Duration::from_secs(5));

    let long = "os.write(channel, b'\\xff\\xff\\xff\\xff'); time.sleep(60)";
    let expected = "The Python process sent 4294967295 bytes at once, which is too much, and was \
        ended ...";
    assert_eq!(words(long).0, expected);
}

#[test]
fn a_death_is_seen_though_others_hold_the_channel() {
    let fork = "frame(); os.fork() and os._exit(5); time.sleep(3)";
    let mut process = start(fork);
    process.send(b"").unwrap();
    let begin = Instant::now();
    assert!(end_of(&mut process).0.contains("exit status 5"));
    assert!(begin.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_death_between_two_calls_is_told_by_the_next() {
    let mut process = start("answer(frame()); os._exit(4)");
    assert_eq!(ask(&mut process, "a"), b"a");
    assert!(process.life.ends_within(EXIT));
    let large = vec![0; 10 << 20];
    assert!(process.send(&large).unwrap_err().0.contains("exit status 4"));
}

#[test]
fn dropping_leaves_no_process() {
    let computes = "frame(); answer(b'')\nwhile True: pass";
    let holds_on = "frame(); answer(b''); sum(range(1 << 40))";
    for program in [ECHO, computes, holds_on] {
        let mut process = start(program);
        let id = id(&process);
        ask(&mut process, "");
        assert!(exists(id));
        let begin = Instant::now();
        drop(process);
        let took = begin.elapsed().as_secs_f64();
        // It is a quarter of a second at most, and longer where the machine is busy.
        assert!(took < 1.0, "{took}");
        assert!(!exists(id), "{program}");
    }
}

#[test]
fn both_sides_see_the_shared_memory_and_nobody_else() {
    let program = "
while True:
    size = int(frame())
    data = os.pread(shared, size, 0)
    os.pwrite(shared, data[::-1], 1 << 20)
    answer(os.environ['NOTEGRAD_SHARED'].encode())";
    let mut process = start(program);
    process.write_shared(0, b"abcdef").unwrap();
    let path = PathBuf::from(String::from_utf8(ask(&mut process, "6")).unwrap());
    assert!(!path.exists() && path.parent().unwrap().exists(), "{path:?}");
    let mut into = [0; 6];
    process.read_shared(1 << 20, &mut into).unwrap();
    assert_eq!(&into, b"fedcba");
    assert!(process.read_shared(1 << 30, &mut into).is_err());
}

#[test]
fn a_start_that_fails_is_told() {
    let words = |python: &Path, program: &str| {
        let failed = try_start(python, program).map(|it| it.about.clone());
        failed.unwrap_err().0.replace(&*python.to_string_lossy(), "PYTHON")
    };
    let prefix = "Python cannot be started: PYTHON";
    let ended = words(&python(), "import sys; print('why', file=sys.stderr); sys.exit(2)");
    let expected = "ended with exit status 2 before it answered\nIts last output:\n    why";
    assert_eq!(ended, format!("{prefix} {expected}"));

    let none = words(Path::new("/no/python"), "");
    assert!(none.starts_with(&format!("{prefix}: No such file")), "{none}");

    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("text");
    fs::write(&text, "neither a script nor a program").unwrap();
    fs::set_permissions(&text, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(words(&text, "").starts_with(prefix));
}

#[test]
fn one_that_is_too_old_is_refused() {
    let hello = "data = b'2.7.18\\n/old/python'";
    let program = format!("import os; {hello}; os.write(0, bytes([len(data), 0, 0, 0]) + data)");
    let words = try_start(&python(), &program).err().unwrap().0;
    let expected = "/old/python is Python 2.7.18; Python 3.8 or newer is needed. Name another: \
        %python PATH";
    assert_eq!(words, expected);
    let took = Duration::from_secs(1);
    assert!(about(b"3.8.0", "name", took).is_ok_and(|it| it.path == "name"));
    assert!(about(b"3.14.0rc1+\n/p", "name", took).is_ok_and(|it| it.version == "3.14.0rc1+"));
    assert!(about(b"4.0", "name", took).is_ok());
    for hello in ["3.7.9", "", "\u{fffd}"] {
        assert!(about(hello.as_bytes(), "name", took).is_err());
    }
}

#[test]
fn a_start_can_be_stopped() {
    let flag = InterruptFlag::default();
    flag.store(true, Ordering::Relaxed);
    let begin = Instant::now();
    let stopped = Process::start(&python(), "import time; time.sleep(60)", &flag);
    assert!(stopped.err().unwrap().0.ends_with("was stopped while it started"));
    assert!(begin.elapsed() < Duration::from_secs(5) && flag.load(Ordering::Relaxed));
}

#[test]
fn the_program_fits_into_an_argument() {
    assert!(frontend_lang::python::worker::PROGRAM.len() < 128 << 10);
}
