//! What is told beside the output of a program: where complex numbers lose their imaginary parts, and what first was not finite.

use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

fn session() -> (Session, Rc<Record>) {
    let record = Rc::new(Record::default());
    (Session::new(Box::new(Recording { record: record.clone() })), record)
}

/// What a session tells in each of its cells, which end well.
fn told() -> impl FnMut(&str) -> String {
    let (mut session, record) = session();
    move |cell| {
        record.notices.borrow_mut().clear();
        let result = session.run_cell(cell, &Options::default());
        assert!(result.error.is_none(), "{cell}");
        record.notices.borrow().join("\n")
    }
}

#[test]
fn a_lost_imaginary_part_is_told_once() {
    let mut told = told();
    let expected = "UserWarning: Casting complex values to real discards the imaginary part";
    assert_eq!(
        told("import torch\nz = torch.tensor([1 + 2j])\nz.bool(), z.cdouble(), z.real.int()"),
        ""
    );
    assert_eq!(told("x = 1\nz.float()"), format!("In[2]:2: {expected}\n  z.float()"));
    assert_eq!(told("z.float()\nz.int()"), "");
    assert_eq!(
        told("x = torch.zeros(1)\nx[:] = z\nx.copy_(z)\ntorch.as_tensor(z, dtype=torch.float32)"),
        ""
    );
}

#[test]
fn every_way_to_lose_an_imaginary_part_is_told() {
    for cell in [
        "z.to(torch.float32)",
        "z.type(torch.int64)",
        "z.long()",
        "torch.zeros(1).copy_(z)",
        "x[:] = z",
        "x[0] = z[0]",
        "z.sum(dtype=torch.float32)",
        "torch.tensor(z, dtype=torch.float64)",
        "torch.as_tensor(z, dtype=torch.float64)",
        "z.type_as(x)",
    ] {
        let (mut session, record) = session();
        let cell = format!("import torch\nz, x = torch.tensor([1 + 2j]), torch.zeros(1)\n{cell}");
        session.run_cell(&cell, &Options::default());
        let told = record.notices.borrow().join("\n");
        assert!(told.contains("discards the imaginary part"), "{cell}: {told}");
    }
}

#[test]
fn what_is_not_finite_and_no_error_is_told_at_the_end_of_the_cell() {
    let mut told = told();
    let stops = "(`%config anomaly on` stops there)";
    assert_eq!(told("import torch\ntorch.autograd.set_detect_anomaly(True)\nx = 1"), "");
    assert_eq!(
        told("x = torch.tensor([1., -1., 0.])\ny = x.log()\nz = y * 2\n1 / x"),
        format!(
            "detect_anomaly: log of float32[3] gave the first nan, at index [1] of [3]; the op stands in cell 2, line 2 {stops}"
        )
    );
    assert_eq!(
        told("w = torch.zeros(2, requires_grad=True)\nr = w.sqrt()\nr.sum().backward()"),
        format!(
            "detect_anomaly: Function 'SqrtBackward0' returned inf values in its 0th output: the gradient of sqrt of float32[2], \
             first at index [0] of [2]; the op stands in cell 3, line 2 {stops}"
        )
    );
    assert_eq!(told("torch.autograd.set_detect_anomaly(False)\nx.log()"), "");
}
