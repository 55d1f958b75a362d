//! How the binary is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // At a fixed address nothing is relocated before the first instruction of the program: the tables of rows are
    // full of addresses, and until they are done an interrupt ends the process.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|it| it == "linux") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
