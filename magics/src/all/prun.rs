//! `%prun`: how often each function is called, and the time it takes.

use frontend_lang::check::Level;
use frontend_lang::profile::{LineTaken, Profiled, Taken};
use frontend_lang::session::Options;

use super::time::duration;
use crate::args::{Arg, Args};
use crate::artifact::{Artifact, Table};
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "prun",
    summary: "Run a line, or with %%prun the cell, and show for each function how often it was called and how long it took, built-in \
              functions and ops too. Operators and built-in types count for the function that uses them. A second table shows the lines \
              that took longest; a line's time is that of what it calls, but for functions of yours, whose lines stand there too. What \
              a traced function computes without its body counts for the lines that say so, and gradients for lines of their own; an op \
              that runs as one with others gets a share by what each computes.",
    args: &[
        Arg::Flag {
            name: "-s",
            value: "KEY",
            help: "sort by own (the default), total, calls or name",
        },
        Arg::Flag { name: "-l", value: "N", help: "at most so many functions; 30 if absent" },
        Arg::Line { name: "CODE", help: "the line to run" },
    ],
    on_cell: OnCell::TakesBody,
    run,
    examples: &[
        Example {
            setup: "def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)",
            cell: "%prun -s calls f(5)",
            shows: "15",
        },
        Example {
            setup: "def double(x):\n    return 2 * x",
            cell: "%%prun\nfor i in range(7):\n    double(i)",
            shows: "double",
        },
        Example {
            setup: "def double(x):\n    return 2 * x",
            cell: "%prun list(map(double, range(4)))",
            shows: "6 calls",
        },
        Example {
            setup: "def double(x):\n    return 2 * x",
            cell: "%%prun\ny = [double(i)\n     for i in range(7)]",
            shows: ":2  return 2 * x",
        },
        Example {
            setup: "",
            cell: "def double(x):\n    return 2 * x\n\n%prun double(3)",
            shows: ":2  return 2 * x",
        },
        Example {
            setup: "",
            cell: "def double(x):\n    return 2 * x\n\n%prun double(3)",
            shows: ":4  double(3)",
        },
        Example { setup: "", cell: "%prun sorted([3, 1, 2])", shows: "sorted (built-in)" },
        Example {
            setup: "items = []",
            cell: "%%prun\nfor i in range(3):\n    items.append(abs(i))",
            shows: "list.append (built-in)",
        },
        Example { setup: "", cell: "%prun -s speed 1", shows: "error: MagicError" },
        Example { setup: "", cell: "%prun 1 / 0", shows: "error: ZeroDivisionError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let code = cx.code(args);
    if code.is_empty() {
        return Err(MagicError::usage(
            &MAGIC,
            "there is nothing to run; write `%prun f(x)`".into(),
        ));
    }
    let key = args.flag("-s").unwrap_or("own");
    let order = order(key)?;
    let most = match args.flag("-l") {
        None => 30,
        Some(text) => text.parse().map_err(|_| {
            MagicError::usage(&MAGIC, format!("-l takes a whole number, not `{text}`"))
        })?,
    };
    let options = Options { check: Level::Off, ..cx.options.clone() };
    let (result, Profiled { mut functions, lines }) = cx.session.run_profiled(&code, &options);
    if let Some(error) = result.error {
        return Err(MagicError::Raised(Box::new(error)));
    }
    functions.sort_by(order);
    let tables = [table(&functions, most), table_of_lines(cx, &lines, most)];
    Ok(tables.into_iter().map(Artifact::Table).collect())
}

type Order = fn(&Taken, &Taken) -> std::cmp::Ordering;

fn order(key: &str) -> Result<Order, MagicError> {
    Ok(match key {
        "own" | "time" | "tottime" => |a, b| b.own.total_cmp(&a.own),
        "total" | "cumulative" | "cumtime" => |a, b| b.total.total_cmp(&a.total),
        "calls" | "ncalls" => |a, b| b.calls.cmp(&a.calls),
        "name" => |a, b| a.name.cmp(&b.name),
        _ => {
            let message = format!("`{key}` is none of own, total, calls and name");
            return Err(MagicError::usage(&MAGIC, message));
        }
    })
}

fn table_of_lines(cx: &MagicCx<'_>, lines: &[LineTaken], most: usize) -> Table {
    let all: f64 = lines.iter().map(|it| it.seconds).sum();
    let row = |it: &LineTaken| {
        let share = if all > 0.0 { 100.0 * it.seconds / all } else { 0.0 };
        let text = cx.session.line(&it.place).unwrap_or_default();
        let place = format!("{}:{}", it.place.source, it.place.line);
        let text = if it.is_gradient { format!("gradients of {text}") } else { text };
        vec![it.times.to_string(), duration(it.seconds), format!("{share:.0} %"), place, text]
    };
    let left = lines.len().saturating_sub(most);
    let more = if left > 0 { format!(", {left} left out") } else { String::new() };
    Table {
        caption: format!("{} lines{more}", lines.len()),
        head: ["times", "time", "share", "place", "line"].map(String::from).to_vec(),
        rows: lines.iter().take(most).map(row).collect(),
        numeric: vec![0, 1, 2],
    }
}

fn table(rows: &[Taken], most: usize) -> Table {
    let calls: usize = rows.iter().map(|it| it.calls).sum();
    let seconds: f64 = rows.iter().map(|it| it.own).sum();
    let cells = |it: &Taken| {
        let each = it.total / it.calls.max(1) as f64;
        vec![
            it.calls.to_string(),
            duration(it.own),
            duration(it.total),
            duration(each),
            format!("{} ({})", it.name, it.place),
        ]
    };
    let left = rows.len().saturating_sub(most);
    let more = if left > 0 { format!(", {left} functions left out") } else { String::new() };
    Table {
        caption: format!("{calls} calls in {}{more}", duration(seconds)),
        head: ["calls", "own", "total", "per call", "function"].map(String::from).to_vec(),
        rows: rows.iter().take(most).map(cells).collect(),
        numeric: vec![0, 1, 2, 3],
    }
}
