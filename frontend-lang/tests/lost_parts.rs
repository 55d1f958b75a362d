//! What is told where complex numbers lose their imaginary parts.

use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

fn session() -> (Session, Rc<Record>) {
    let record = Rc::new(Record::default());
    (Session::new(Box::new(Recording { record: record.clone() })), record)
}

#[test]
fn a_lost_imaginary_part_is_told_once() {
    let (mut session, record) = session();
    let mut told = |cell: &str| {
        record.notices.borrow_mut().clear();
        let result = session.run_cell(cell, &Options::default());
        assert!(result.error.is_none(), "{cell}");
        record.notices.borrow().join("\n")
    };
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
