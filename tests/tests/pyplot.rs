//! `matplotlib.pyplot`: what programs print is what matplotlib prints (`tests/expected/generate_pyplot_programs.py`), and
//! what a cell draws is shown once.

use std::path::Path;
use std::rc::Rc;

use frontend_lang::builtins::modules::pyplot;
use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

const SETUP: &str =
    "import matplotlib.pyplot as plt, numpy as np\nfrom matplotlib.colors import to_hex";

struct Plots {
    record: Rc<Record>,
    session: Session,
}

impl Plots {
    fn new() -> Plots {
        let record = Rc::new(Record::default());
        let mut session = Session::new(Box::new(Recording { record: record.clone() }));
        assert!(session.run_cell(SETUP, &Options::default()).error.is_none());
        Plots { record, session }
    }

    /// What a cell prints, and the class of its error.
    fn printed_by(&mut self, code: &str, check: Level) -> String {
        self.record.stdout.borrow_mut().clear();
        let result = self.session.run_cell(code, &Options { check, ..Options::default() });
        let mut out = self.record.stdout.borrow().clone();
        if let Some(error) = result.error {
            out.push_str(&error.ename);
            out.push('\n');
        }
        out
    }

    /// The figures that a cell shows, in words; it raises nothing.
    fn figures_of(&mut self, code: &str) -> Vec<String> {
        let result = self.session.run_cell(code, &Options::default());
        assert!(result.error.is_none(), "{code}: {:?}", result.error);
        pyplot::show_pending(&mut self.session.cx);
        self.record.displays.take()
    }
}

#[test]
fn programs_print_what_matplotlib_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("matplotlib/programs.out");
    let text = std::fs::read_to_string(path).expect("what matplotlib printed");
    let mut plots = Plots::new();
    let (mut count, mut wrong) = (0, String::new());
    for (program, expected) in text.split(">>> ").skip(1).filter_map(|it| it.split_once('\n')) {
        count += 1;
        for check in [Level::Off, Level::On] {
            plots.printed_by("plt.close('all')", Level::Off);
            let printed = plots.printed_by(program, check);
            if printed != expected {
                wrong.push_str(&format!("{program}\nhere:\n{printed}matplotlib:\n{expected}\n"));
            }
        }
    }
    assert!(count > 60 && wrong.is_empty(), "{count} programs\n{wrong}");
}

#[test]
fn a_cell_shows_its_figures_once_and_in_their_order() {
    let mut plots = Plots::new();
    let shown = plots.figures_of(
        "plt.plot([1, 2]); plt.title('a')\nplt.figure(); plt.bar(['x'], [1]); plt.title('b')",
    );
    assert_eq!(shown, ["<figure: plot 'a' with 1 series>", "<figure: plot 'b' with 1 series>"]);
    assert_eq!(plots.figures_of("plt.figure(); 1"), [""; 0]);
    let shown = plots.figures_of("plt.plot([1]); plt.show(); plt.plot([2]); plt.plot([3])");
    assert_eq!(shown, ["<figure: plot '' with 1 series>", "<figure: plot '' with 2 series>"]);
    assert_eq!(plots.figures_of("plt.plot([1]); plt.close()"), [""; 0]);
    assert_eq!(plots.figures_of("fig, ax = plt.subplots(); ax.plot([1]); fig"), [""; 0]);
}

#[test]
fn axes_of_a_shown_figure_draw_on_it_and_on_no_other() {
    let mut plots = Plots::new();
    plots.figures_of("fig, old = plt.subplots(); old.plot([1])");
    let shown = plots.figures_of("plt.plot([1], 'o'); old.plot([2]); old.set_title('late')");
    assert_eq!(shown, ["<figure: plot '' with 1 series>"]);
    assert_eq!(plots.printed_by("print(old.get_title(), len(fig.axes))", Level::On), "late 1\n");
}

#[test]
fn what_drawing_returns_is_no_result_of_the_cell() {
    let mut plots = Plots::new();
    for code in ["plt.plot([1])", "plt.hist([[1, 2], [3]])", "plt.scatter([1], [2])"] {
        let result = plots.session.run_cell(code, &Options::default());
        assert!(result.value.is_none(), "{code}");
    }
    assert!(plots.session.run_cell("[1, 2]", &Options::default()).value.is_some());
    let own = plots.session.run_cell("a = []; a.append(a); a", &Options::default());
    assert!(own.value.is_some());
}

#[test]
fn what_is_no_axes_gets_no_colour_bar() {
    let mut plots = Plots::new();
    let setup = "im = plt.imshow([[1, 2]])\nown = []\nown.append(own)";
    plots.printed_by(setup, Level::Off);
    for axes in ["'a'", "own", "3", "[]", "[['a']]"] {
        let printed = plots.printed_by(&format!("plt.colorbar(im, ax={axes})"), Level::Off);
        assert_eq!(printed, "TypeError\n", "{axes}");
    }
    let grid =
        "fig, axs = plt.subplots(2, 2); fig.colorbar(im, ax=axs); fig.colorbar(im, ax=axs[0])";
    assert_eq!(plots.printed_by(grid, Level::On), "");
}

#[test]
fn figures_stay_within_the_memory_of_the_session() {
    let mut plots = Plots::new();
    let code = "import notegrad\nold = notegrad.memory_limit()\nnotegrad.set_memory_limit(notegrad.memory_used() + 50_000_000)\n\
                x = np.arange(100_000)\nwhile True: plt.plot(x)";
    assert_eq!(plots.printed_by(code, Level::Off), "MemoryError\n");
    plots.printed_by("plt.close('all'); notegrad.set_memory_limit(old)", Level::Off);
    assert_eq!(plots.figures_of("plt.plot([1])").len(), 1);
}

#[test]
fn figures_are_written_to_files_or_it_says_why_not() {
    let mut plots = Plots::new();
    let setup = "from pathlib import Path\nplt.plot([1, 2])\nplt.savefig('a.svg')\nfig = plt.gcf()\nfig.savefig(Path('b.png'), dpi=160)\n\
                 plt.savefig('c')\nplt.savefig('d.txt', format='svg')";
    assert_eq!(plots.printed_by(setup, Level::On), "");
    let files = "for name in ['a.svg', 'b.png', 'c.png', 'd.txt']: print(open(name).read())";
    let drawn = "Svg of 1 panels\nPng { scale: 2.0 } of 1 panels\nPng { scale: 1.25 } of 1 panels\nSvg of 1 panels\n";
    assert_eq!(plots.printed_by(files, Level::On), drawn);
    for wrong in ["'a.pdf'", "'a.png', dpi=-1"] {
        let cell = format!("try: plt.savefig({wrong})\nexcept ValueError as e: print(e)");
        let printed = plots.printed_by(&cell, Level::Off);
        assert!(printed.contains("supported formats: png, svg") || printed.contains("dpi"));
    }
}

#[test]
fn a_picture_keeps_what_was_set_around_it() {
    let mut plots = Plots::new();
    let shown = plots.figures_of("plt.imshow([[1, 2], [3, 4]]); plt.title('a'); plt.axis('off')");
    assert_eq!(shown, ["<figure: image 'a' 2x2>"]);
    let shown = plots.figures_of("plt.imshow([[1, 2], [3, 4]])");
    assert_eq!(shown, ["<figure: plot '' with 0 series>"]);
    let shown = plots.figures_of("plt.xlabel('x'); plt.imshow([[1, 2], [3, 4]])");
    assert_eq!(shown, ["<figure: plot '' with 0 series>"]);
    let shown = plots.figures_of("plt.imshow([[1, 2]]); plt.plot([0, 1], [0, 0])");
    assert_eq!(shown, ["<figure: plot '' with 1 series>"]);
}
