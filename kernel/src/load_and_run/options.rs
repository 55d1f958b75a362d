//! The options of `load-and-run`: parsed, and refused early where they contradict each other.
//!
//! Names may be written with `-` or `_`, as the option pages of other runners do.

use std::ffi::OsString;
use std::path::PathBuf;

use frontend_lang::suggest;
use lexopt::prelude::*;
use lexopt::{Error, Parser};

use engine::fastrun::Strategy;

/// What may follow the name of the subcommand. Each option stands first on its line.
pub const USAGE: &str = "\
MODEL [options]

MODEL is a file that `%dump` wrote.

run
  --iter N                 timed runs per test case (10)
  --warmup-iter N          runs before the first test case, not timed (1)
  --thread N               load and run in N threads at once, each on its own (1)
  --multithread N          threads that one run uses (all that the system grants)
  --cpu-default            one run uses the calling thread alone
  --cpu                    run on the CPU, as is the default
  --maxerr E               largest error of an output, relative to max(1, |expected|) (1e-4)
input and output
  --input NAME:DATA[;NAME:DATA]
                           data for inputs; may be repeated; NAME: may be left out if there is one input
  --copy-to-host           accepted; outputs are always in host memory
  --print-output           print the values of the outputs
  --model-info             print inputs, outputs, ops, weights, memory and test cases
  --json                   print one line of JSON instead of text
choice of algorithms
  --fast-run               time all algorithms but the plain ones, take the fastest
  --full-run               time all algorithms, take the fastest
  --fast-run-algo-policy FILE
                           read what was timed before, and write what is timed now
  --fast-run-shared-batch-size N
                           time with this batch size, and share the choice between batch sizes
  --reproducible           only algorithms that give the same bits on every run
  --workspace-limit BYTES  leave out algorithms that need more scratch

DATA is one of
  FILE.npy                 a NumPy array of bools, integers, float32 or float64
  FILE.json                {\"NAME\": {\"shape\": [2, 2], \"type\": \"float32\", \"raw\": [1, 2, 3, 4]}}
  FILE.ppm, FILE.pgm       an image, [1, height, width, channels], or [1, channels, height, width] where
                           the model takes that
  [[1,2],[3,4]] or 1,2,3   values; brackets mean what they mean to NumPy: shapes [2, 2] and [3]. Whole
                           numbers unless a `.` or an exponent is among them
  {2,3}                    ones in this shape
and is converted to the dtype of the input where that loses nothing but float precision.
Without --input the test cases of the file are run and checked; if it holds none, inputs are ones.";

/// A parsed command line.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) model: PathBuf,
    pub(super) iter: usize,
    pub(super) warmup: usize,
    pub(super) threads: usize,
    pub(super) multithread: Option<usize>,
    pub(super) maxerr: f64,
    /// The texts of `--input`.
    pub(super) inputs: Vec<String>,
    pub(super) print_output: bool,
    pub(super) model_info: bool,
    pub(super) json: bool,
    pub(super) is_fast: bool,
    pub(super) is_full: bool,
    pub(super) is_reproducible: bool,
    pub(super) policy: Option<PathBuf>,
    pub(super) shared_batch: Option<usize>,
    pub(super) workspace_limit: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            model: PathBuf::new(),
            iter: 10,
            warmup: 1,
            threads: 1,
            multithread: None,
            maxerr: 1e-4,
            inputs: Vec::new(),
            print_output: false,
            model_info: false,
            json: false,
            is_fast: false,
            is_full: false,
            is_reproducible: false,
            policy: None,
            shared_batch: None,
            workspace_limit: None,
        }
    }
}

impl Options {
    pub(super) fn parse(args: Vec<OsString>) -> Result<Self, Error> {
        let mut options = Self::default();
        let mut parser = Parser::from_args(args);
        let (mut has_model, mut is_caller_only) = (false, false);
        while let Some(arg) = parser.next()? {
            let name = match arg {
                Long(name) => name.replace('_', "-"),
                Value(path) if !has_model => {
                    has_model = true;
                    options.model = path.into();
                    continue;
                }
                Value(it) => {
                    let it = it.to_string_lossy();
                    return Err(
                        format!("one MODEL is run at a time; `{it}` is one too many").into()
                    );
                }
                Short(it) => return Err(unknown(&format!("-{it}"))),
            };
            match name.as_str() {
                "cpu-default" => is_caller_only = true,
                _ => options.set(&name, &mut parser)?,
            }
        }
        if !has_model {
            return Err("MODEL is missing".into());
        }
        if is_caller_only && options.multithread.replace(1).is_some() {
            return Err("--cpu-default and --multithread contradict each other".into());
        }
        options.check()?;
        Ok(options)
    }

    fn set(&mut self, name: &str, parser: &mut Parser) -> Result<(), Error> {
        match name {
            "iter" => self.iter = number(name, parser, 1)?,
            "warmup-iter" => self.warmup = number(name, parser, 0)?,
            "thread" => self.threads = at_most(name, number(name, parser, 1)?, 1024)?,
            "multithread" => {
                self.multithread = Some(at_most(name, number(name, parser, 1)?, 1024)?);
            }
            "maxerr" => self.maxerr = tolerance(parser)?,
            "input" => self.inputs.push(parser.value()?.string()?),
            "print-output" => self.print_output = true,
            "model-info" => self.model_info = true,
            "json" => self.json = true,
            "fast-run" => self.is_fast = true,
            "full-run" => self.is_full = true,
            "reproducible" => self.is_reproducible = true,
            "fast-run-algo-policy" => self.policy = Some(parser.value()?.into()),
            "fast-run-shared-batch-size" => {
                let size = number(name, parser, 0)?;
                self.shared_batch = (size > 0).then_some(size);
            }
            "workspace-limit" => self.workspace_limit = Some(number(name, parser, 0)?),
            "cpu" | "copy-to-host" => {}
            _ => return Err(unknown(&format!("--{name}"))),
        }
        Ok(())
    }

    /// Options that contradict or need each other.
    fn check(&self) -> Result<(), Error> {
        let is_measuring = self.is_fast || self.is_full;
        if self.is_fast && self.is_full {
            return Err("invalid options of both fast-run and full-run: give one of them".into());
        }
        if let Some(path) = self.policy.as_ref().filter(|it| !is_measuring && !it.exists()) {
            let path = path.display();
            return Err(
                format!("--fast-run or --full-run should be enabled: {path} is not there").into()
            );
        }
        if self.shared_batch.is_some() && !is_measuring && self.policy.is_none() {
            return Err(
                "--fast-run-shared-batch-size should be used with --fast-run, --full-run or \
                        --fast-run-algo-policy"
                    .into(),
            );
        }
        Ok(())
    }

    /// How algorithms are chosen. A policy file alone is looked up and never added to.
    pub(super) fn strategy(&self) -> Strategy {
        let is_measuring = self.is_fast || self.is_full;
        Strategy {
            profile: is_measuring || self.policy.is_some(),
            optimized: self.is_fast,
            reproducible: self.is_reproducible,
            cache_only: !is_measuring && self.policy.is_some(),
            workspace_limit: self.workspace_limit,
            shared_batch: self.shared_batch,
        }
    }
}

fn number(name: &str, parser: &mut Parser, least: usize) -> Result<usize, Error> {
    let text = parser.value()?.string()?;
    let number = text.trim().parse::<usize>().ok().filter(|&it| it >= least);
    number.ok_or_else(|| {
        format!("--{name} takes a whole number of at least {least}, not `{text}`").into()
    })
}

fn at_most(name: &str, number: usize, most: usize) -> Result<usize, Error> {
    if number > most {
        return Err(format!("--{name} takes at most {most}, not {number}").into());
    }
    Ok(number)
}

fn tolerance(parser: &mut Parser) -> Result<f64, Error> {
    let text = parser.value()?.string()?;
    let number = text.trim().parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
    number.ok_or_else(|| format!("--maxerr takes a number of at least 0, not `{text}`").into())
}

fn unknown(given: &str) -> Error {
    let near = suggest::nearest(given, names());
    let hint = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
    format!("there is no option `{given}`{hint}").into()
}

/// The options in the usage.
fn names() -> impl Iterator<Item = &'static str> {
    let first = |line: &'static str| line.split_whitespace().next();
    USAGE.lines().filter_map(first).filter(|it| it.starts_with("--"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, String> {
        Options::parse(text.split_whitespace().map(Into::into).collect())
            .map_err(|error| error.to_string())
    }

    fn refused(text: &str, expected: &str) {
        let error = parse(text).expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }

    #[test]
    fn the_model_may_stand_anywhere_and_names_take_underscores() {
        let options = parse("--warmup_iter 3 m.ngm --iter=7 --input a:1 --input b:2").unwrap();
        assert_eq!((options.iter, options.warmup), (7, 3));
        assert_eq!(options.model, PathBuf::from("m.ngm"));
        assert_eq!(options.inputs, ["a:1", "b:2"]);
    }

    #[test]
    fn every_option_of_the_usage_is_known() {
        assert!(names().count() > 15);
        for name in names() {
            let known = [format!("m {name} 1"), format!("m {name}")]
                .iter()
                .any(|it| !parse(it).is_err_and(|error| !error.contains("should be")));
            assert!(known, "{name}");
        }
    }

    #[test]
    fn mistakes_name_the_way_out() {
        refused("", "MODEL is missing");
        refused("a b", "`b` is one too many");
        refused("m --itre 3", "did you mean `--iter`?");
        refused("m -x", "no option `-x`");
        refused("m --iter 0", "at least 1, not `0`");
        refused("m --iter -3", "not `-3`");
        refused("m --thread 0", "at least 1");
        refused("m --maxerr nan", "--maxerr takes");
        refused("m --fast-run --full-run", "both fast-run and full-run");
        refused(
            "m --fast-run-algo-policy /no/such/file",
            "--fast-run or --full-run should be enabled",
        );
        refused("m --fast-run-shared-batch-size 4", "should be used with");
        refused("m --cpu-default --multithread 2", "contradict");
    }

    #[test]
    fn strategies_follow_the_options() {
        assert_eq!(parse("m").unwrap().strategy(), Strategy::HEURISTIC);
        assert_eq!(parse("m --fast-run").unwrap().strategy(), Strategy::FAST);
        assert_eq!(parse("m --full-run").unwrap().strategy(), Strategy::PROFILE);
        let reproducible = parse("m --reproducible --fast-run").unwrap().strategy();
        assert!(reproducible.reproducible && reproducible.optimized);
    }
}
