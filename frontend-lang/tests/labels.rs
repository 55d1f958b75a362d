//! Labels of errors about tensors: where what stands in a line was made.

use frontend_lang::host::Recording;
use frontend_lang::session::{Options, Session};

fn session() -> Session {
    Session::new(Box::new(Recording::default()))
}

#[test]
fn a_parameter_was_not_made_in_another_function() {
    let other = "import torch\ndef a():\n    w = torch.ones(2)\n    return w\n";
    let of_parameter = "def b(w):\n    return torch.ones(3, 2) @ w\nb(torch.ones(4))";
    let of_own = "def c():\n    w = torch.ones(4)\n    return torch.ones(3, 2) @ w\nc()";
    let shown = |cell: &str| {
        let mut session = session();
        let error = session.run_cell(&format!("{other}{cell}"), &Options::default()).error;
        error.map(|it| it.plain).unwrap_or_default()
    };
    assert!(shown(of_parameter).contains("w: float32[4]"), "{}", shown(of_parameter));
    assert!(!shown(of_parameter).contains("made here"), "{}", shown(of_parameter));
    assert!(shown(of_own).contains("w was made here"), "{}", shown(of_own));
}
