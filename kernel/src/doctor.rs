//! `notegrad doctor`: whether Jupyter can find and start this kernel, tried for real.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use engine::cuda::{self, libraries};
use engine::words::size;
use lexopt::prelude::*;
use serde_json::{Value, json};

use crate::cli::{CliResult, say};
use crate::client::{Client, Process, Source, Transport};
use crate::install::{NAME, data_dirs};

const LIMIT: Duration = Duration::from_secs(10);

/// Reports; status 1 if something is wrong.
pub fn run(args: Vec<OsString>) -> CliResult {
    let mut name = NAME.to_owned();
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("name") => name = parser.value()?.string()?,
            _ => return Err(arg.unexpected().into()),
        }
    }
    let exe = std::env::current_exe()?;
    let mut text = format!("binary      {}\n", exe.display());
    let installed = installed_argv(&name, &exe, &mut text);
    let argv = installed.unwrap_or_else(|| {
        let exe = exe.to_string_lossy().into_owned();
        [exe.as_str(), "kernel", "-f", "{connection_file}"].map(str::to_owned).into()
    });
    text.push_str(&gpus());
    let tried = try_kernel(&argv);
    match &tried {
        Ok(report) => text.push_str(report),
        Err(message) => drop(writeln!(text, "kernel      FAILED: {message}")),
    }
    say(&text);
    Ok(if tried.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The GPUs, and the libraries that they need: where they are, or how to come by them.
fn gpus() -> String {
    let survey = cuda::survey();
    let devices = cuda::devices();
    let mut text = String::new();
    if let (Some(missing), true) = (&survey.missing, devices.is_empty()) {
        let _ = writeln!(text, "GPU         none: {missing}");
        return text;
    }
    for (index, it) in devices.iter().enumerate() {
        let (major, minor) = it.capability;
        let memory = size(it.memory);
        let _ = writeln!(
            text,
            "GPU         cuda:{index}: {}, {memory}, compute capability {major}.{minor}",
            it.name
        );
    }
    if let Some(version) = survey.version {
        let _ =
            writeln!(text, "driver      offers CUDA {}.{}", version / 1000, version % 1000 / 10);
    }
    let cudnn = match survey.version {
        Some(..13_000) => "convolutions are slower: `pip install nvidia-cudnn-cu12`",
        _ => "convolutions are slower: `pip install nvidia-cudnn-cu13`",
    };
    let libraries = [
        (
            "NVRTC",
            libraries::nvrtc(),
            "kernels cannot be compiled: `pip install nvidia-cuda-nvrtc`",
        ),
        ("cuBLASLt", libraries::cublas_lt(), "products are slower: `pip install nvidia-cublas`"),
        ("cuDNN", libraries::cudnn(), cudnn),
    ];
    for (name, found, missing) in libraries {
        let version = if name == "cuDNN" { version(cuda::cudnn_version()) } else { String::new() };
        let _ = match found {
            Some(it) => writeln!(text, "{name:<12}{}{version}", it.place),
            None => writeln!(text, "{name:<12}none: {missing}"),
        };
    }
    text
}

/// The version of cuDNN behind its place, or that it will not do.
fn version(found: Option<usize>) -> String {
    match found {
        Some(it) => format!(" ({}.{}.{})", it / 10_000, it / 100 % 100, it % 100),
        None => " (lacks functions that are needed, so convolutions go without it)".into(),
    }
}

/// The command of the kernelspec that Jupyter takes, with remarks on all that there are.
fn installed_argv(name: &str, exe: &Path, text: &mut String) -> Option<Vec<String>> {
    let mut taken = None;
    for dir in data_dirs() {
        let file = dir.join("kernels").join(name).join("kernel.json");
        let Ok(spec) = fs::read(&file) else { continue };
        let spec: Value = serde_json::from_slice(&spec).unwrap_or_default();
        let argv: Option<Vec<String>> = serde_json::from_value(spec["argv"].clone()).ok();
        let remark = match argv.as_deref() {
            None | Some([]) => "  (not a kernelspec)".to_owned(),
            Some([program, ..]) if !Path::new(program).is_file() => {
                format!("  (its binary {program} is gone: run `notegrad install` again)")
            }
            Some([program, ..]) if !is_same(Path::new(program), exe) => {
                format!("  (for another binary, {program})")
            }
            Some(_) if taken.is_some() => "  (hidden by the one above)".to_owned(),
            Some(_) => String::new(),
        };
        let _ = writeln!(text, "kernelspec  {}{remark}", file.display());
        taken = taken.or(argv.filter(|it| !it.is_empty()));
    }
    if taken.is_none() {
        let _ = writeln!(text, "kernelspec  none: `notegrad install --user` makes one");
    }
    taken
}

fn is_same(a: &Path, b: &Path) -> bool {
    let real = |it: &Path| fs::canonicalize(it).unwrap_or_else(|_| PathBuf::from(it));
    real(a) == real(b)
}

/// Starts the kernel, runs a cell, and shuts it down.
fn try_kernel(argv: &[String]) -> Result<String, String> {
    let start = Instant::now();
    let mut process = Process::start(argv, Transport::Tcp)?;
    let mut client = Client::connect(&process.connection, LIMIT)?;
    let info = client.send(Source::Shell, "kernel_info_request", &json!({}));
    client.reply(Source::Shell, &info, LIMIT).ok_or("it does not say what it is")?;
    let ready = start.elapsed();
    let start = Instant::now();
    let cell = client.execute("1+1");
    let reply = client.reply(Source::Shell, &cell, LIMIT).ok_or("no reply to `1+1`")?;
    let ran = start.elapsed();
    if reply.content["status"] != "ok" {
        return Err(format!("`1+1` failed: {}", reply.content));
    }
    let shutdown = client.send(Source::Control, "shutdown_request", &json!({"restart": false}));
    client.reply(Source::Control, &shutdown, LIMIT).ok_or("no reply to the shutdown")?;
    if !process.ends_within(LIMIT) {
        return Err("it does not end when it is shut down".to_owned());
    }
    let ms = |it: Duration| it.as_secs_f64() * 1e3;
    Ok(format!(
        "kernel      ready in {:.0} ms, ran 1+1 in {:.2} ms, ended when asked\n",
        ms(ready),
        ms(ran)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_in_three_numbers() {
        assert_eq!(version(Some(90_800)), " (9.8.0)");
        assert_eq!(version(Some(92_801)), " (9.28.1)");
    }
}
