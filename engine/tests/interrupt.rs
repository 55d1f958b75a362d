//! A raised flag ends long kernels soon, with an error, and leaves everything fit for more work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::cpu::interrupt;
use engine::{Attr, Attrs, Error, Shape, Tensor, apply, functional, ops};
use mimalloc::MiMalloc;

/// As in the process that users run. The system's allocator writes all of a large buffer before the op begins.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How long after the flag was raised the op ended, and with what.
fn interrupted(op: &str, inputs: &[Tensor], attrs: Attrs) -> (Duration, Option<Error>) {
    let flag = Arc::new(AtomicBool::new(false));
    let _watching = interrupt::watch(flag.clone());
    let raiser = std::thread::spawn({
        let flag = flag.clone();
        move || {
            std::thread::sleep(Duration::from_millis(50));
            flag.store(true, Ordering::SeqCst);
            Instant::now()
        }
    });
    let res = apply(ops::find(op).expect("valid operands"), inputs, &attrs);
    let end = Instant::now();
    let raised = raiser.join().expect("valid operands");
    (end.saturating_duration_since(raised), res.err())
}

fn ones(shape: &[usize]) -> Tensor {
    let x = functional::full(&Shape::new(shape), 1.0, engine::DType::F32).expect("valid operands");
    functional::mul(&x, &x).expect("valid operands")
}

fn check(op: &str, inputs: &[Tensor], attrs: Attrs) {
    let (late, error) = interrupted(op, inputs, attrs);
    assert_eq!(error, Some(Error::Interrupted), "{op}");
    assert!(late < Duration::from_millis(2000), "{op} went on for {late:?}");
    let small = ones(&[300, 300]);
    let product =
        apply(ops::find("matmul").expect("valid operands"), &[small.clone(), small], &Attrs::new());
    let sum =
        functional::sum(&product.expect("valid operands")[0], &[], false).expect("valid operands");
    assert_eq!(sum.to_f64_vec().expect("valid operands"), [300.0 * 300.0 * 300.0]);
}

#[test]
fn a_long_matrix_product_ends() {
    let x = ones(&[6000, 6000]);
    check("matmul", &[x.clone(), x], Attrs::new());
}

#[test]
fn a_long_convolution_ends() {
    let attrs = [1, 1, 1].map(|it| Attr::ints(&[it])).into_iter().chain([Attr::Int(1)]).collect();
    check("conv2d", &[ones(&[64, 64, 128, 128]), ones(&[256, 64, 3, 3])], attrs);
}

#[test]
fn a_long_sort_ends() {
    let x = functional::cumsum(&ones(&[1 << 24]), 0).expect("valid operands");
    let x = apply(ops::find("sin").expect("valid operands"), &[x], &Attrs::new())
        .expect("valid operands");
    let attrs = [Attr::Int(0), Attr::Bool(false), Attr::Bool(true)].into_iter().collect();
    check("sort", &x, attrs);
}

#[test]
fn reading_elements_ends_and_works_again() {
    let x = Tensor::from_vec(&vec![1_i64; 1 << 20], Shape::from([1 << 20])).expect("a vector");
    let flag = Arc::new(AtomicBool::new(true));
    let _watching = interrupt::watch(flag);
    assert_eq!(x.to_f64_vec(), Err(Error::Interrupted));
    assert_eq!(x.to_f64_vec().map(|it| it.len()), Ok(1 << 20));
}
