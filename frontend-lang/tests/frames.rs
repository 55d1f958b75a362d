//! Which places a traceback shows.

use frontend_lang::host::Recording;
use frontend_lang::session::{Options, Session};

/// The places that a traceback shows.
fn places(cell: &str) -> Vec<String> {
    let mut session = Session::new(Box::new(Recording::default()));
    let error = session.run_cell(cell, &Options::default()).error.expect("an error");
    let places = error.plain.lines().filter_map(|it| it.trim_start().strip_prefix("--> "));
    places.map(str::to_owned).collect()
}

#[test]
fn shows_no_frames_of_what_is_compiled_elsewhere() {
    for cell in [
        "open('none.txt')",
        "import io\nio.StringIO().fileno()",
        "import heapq\nheapq.heappop([])",
        "import datetime\ndatetime.date(2024, 13, 1)",
        "import numpy as np\nnp.concatenate([])",
    ] {
        let line = cell.lines().count();
        assert_eq!(places(cell), [format!("In[1]:{line}:1")], "{cell}");
    }
    let own =
        "import functools\ndef ratio(a, b):\n    return a / b\nfunctools.reduce(ratio, [1, 0])";
    assert_eq!(places(own), ["In[1]:4:1", "In[1] in ratio:3:12"]);
    let python = places("import statistics\nstatistics.mean([])");
    assert!(python[1].starts_with("statistics in mean:"), "{python:?}");
}
