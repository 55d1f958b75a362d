//! CUDA C of every elementwise row and of fused groups, compiled as C++ and run on the processor, against the tile machine.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::process::Command;

use super::cases::{self, Case, N, difference, on_tile_machine};
use super::cuda;
use super::cuda::{Access, Form};
use super::expand::expand;
use crate::cpu::lane::Mem;
use crate::cuda::source;
use crate::math::Fault;
use crate::math::recorded::Type;

/// What holds a number of the run.
fn in_memory(ty: Type) -> Mem {
    match ty {
        Type::Bool | Type::I32 => Mem::I32,
        Type::I64 => Mem::I64,
        Type::F32 => Mem::F32,
        Type::F64 => Mem::F64,
    }
}

/// How the kernel of case `at` reads its inputs: in packs or one by one, so that both are run.
fn form(case: &Case, at: usize) -> Form {
    let mut form = Form::flat(&case.program);
    for (access, tensor) in form.accesses.iter_mut().zip(&case.inputs) {
        *access = match tensor.rank() {
            0 if at.is_multiple_of(2) => Access::Held,
            0 => Access::One,
            _ => Access::Flat,
        };
    }
    form
}

/// C++ that runs all kernels, and the elements that it reads.
fn harness(cases: &[Case]) -> (String, Vec<u8>) {
    let mut text = format!(
        "#include \"emulator.h\"\n#include \"files.h\"\n{}{}",
        source::PRELUDE,
        cuda::PRELUDE
    );
    let mut given = Vec::new();
    let mut calls = String::new();
    for (at, case) in cases.iter().enumerate() {
        let form = form(case, at);
        let kernel = cuda::kernel(&case.program, &format!("kernel{at}"), &form);
        let kernel = kernel.unwrap_or_else(|| panic!("{} has no expansion", case.title));
        let _ = writeln!(text, "// {}\n{kernel}\nstatic void case{at}() {{", case.title);
        let pack = form.pack(&case.program);
        let packs = if pack > 1 && at % 3 > 0 { N / pack } else { 0 };
        let _ = writeln!(text, "    ng_i64 n = {N}, packs = {packs};");
        let mut arguments = vec!["&n".to_owned(), "&packs".to_owned()];
        for (input, (tensor, access)) in case.inputs.iter().zip(&form.accesses).enumerate() {
            let ty = cuda::element_name(Mem::of(tensor.dtype()));
            let _ = writeln!(text, "    {ty} *in{input} = input<{ty}>({});", tensor.numel());
            let sign = if *access == Access::Held { "" } else { "&" };
            arguments.push(format!("{sign}in{input}"));
            tensor.append_le_bytes(&mut given).unwrap();
        }
        let numbers = expand(case.program.ssa()).unwrap().params;
        for (number, ty) in numbers.into_iter().enumerate() {
            let Some(ty) = ty else { continue };
            let (ty, mem) = (cuda::type_name(ty), in_memory(ty));
            let _ = writeln!(text, "    {ty} *number{number} = input<{ty}>(1);");
            arguments.push(format!("number{number}"));
            let bits = mem.bits(case.numbers[number]).to_le_bytes();
            given.extend(&bits[..mem.size()]);
        }
        for (output, &dtype) in case.program.outputs().iter().enumerate() {
            let ty = cuda::element_name(Mem::of(dtype));
            let _ = writeln!(text, "    {ty} *out{output} = room<{ty}>({N});");
            arguments.push(format!("&out{output}"));
        }
        let _ = writeln!(text, "    ng_fault fault = {{0, 0, 0}}, *noted = &fault;");
        let _ = writeln!(text, "    void *all[] = {{{}, &noted}};", arguments.join(", "));
        let _ = writeln!(text, "    ng_run<false>(kernel{at}, grid, {}, all);", at % 2);
        for output in 0..case.program.outputs().len() {
            let _ = writeln!(text, "    output(out{output}, {N});");
        }
        text.push_str("    output(&fault.kind, 1);\n}\n");
        let _ = writeln!(calls, "    case{at}();");
    }
    let _ = write!(
        text,
        "int main(int, char **names) {{\n    given = fopen(names[1], \"rb\");\n    \
         results = fopen(names[2], \"wb\");\n{calls}    return fclose(results);\n}}\n"
    );
    (text, given)
}

/// The results of the kernels, one after the other.
fn compiled_and_run(text: &str, given: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("kernels.cc"), text).unwrap();
    fs::write(at("emulator.h"), include_str!("../cuda/emulator.h")).unwrap();
    fs::write(at("files.h"), include_str!("cuda_files.h")).unwrap();
    fs::write(at("given"), given).unwrap();
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let options = ["-std=c++17", "-O0", "-w", "-ffp-contract=off", "-o"];
    let compiled = Command::new(&compiler)
        .args(options)
        .args([at("kernels"), at("kernels.cc")])
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}; this test needs a C++ compiler"));
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(
        compiled.status.success(),
        "{}",
        errors.lines().take(20).collect::<Vec<_>>().join("\n")
    );
    let run = Command::new(at("kernels")).args([at("given"), at("results")]).status().unwrap();
    assert!(run.success(), "the kernels ended with {run}");
    fs::read(at("results")).unwrap()
}

#[test]
fn kernels_give_the_bits_of_the_tile_machine() {
    let mut cases = cases::rows();
    let n_rows = cases.len();
    cases.extend(cases::not_refused());
    cases.extend(cases::gradients());
    cases.extend(cases::groups());
    let (text, given) = harness(&cases);
    let results = compiled_and_run(&text, &given);
    let mut rest = &results[..];
    let mut take = |n: usize| {
        let (now, later) = rest.split_at(n);
        rest = later;
        now
    };
    let (mut problems, mut n_refused) = (BTreeMap::new(), 0);
    for case in &mut cases {
        let (want, refused) = on_tile_machine(case);
        for (want, &dtype) in want.iter().zip(case.program.outputs()) {
            let got = take(want.len());
            if let Some(difference) = difference(got, want, dtype) {
                problems.insert(case.title.clone(), difference);
            }
        }
        // Of several faults the machine names the first.
        let faults = u32::from_ne_bytes(take(4).try_into().unwrap());
        n_refused += usize::from(refused.is_some());
        let fits = match refused {
            None => faults == 0,
            Some(Fault::DivisionByZero) => faults & 1 != 0,
        };
        let is_single =
            case.program.ssa().nodes.iter().filter(|it| it.fault().is_some()).count() < 2;
        if !fits || is_single && faults.count_ones() > 1 {
            problems.insert(case.title.clone(), format!("refused: {faults}, not {refused:?}"));
        }
    }
    assert!(rest.is_empty());
    println!("{} kernels, {n_rows} of single rows; {n_refused} refuse an element", cases.len());
    let list: Vec<String> = problems.iter().map(|(a, b)| format!("{a}: {b}")).collect();
    assert!(list.is_empty(), "{} differ:\n{}", list.len(), list[..list.len().min(60)].join("\n"));
}
