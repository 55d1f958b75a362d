//! The bytes of a model file are read, with the checksum made right, which would hide all else; what can be read is written and read again.

#![no_main]

use engine::model::{Model, seal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    engine::cpu::memory::HOST.set_budget(256 << 20);
    // The reader turns a panic of a shape rule into an error; any other still ends the process.
    std::panic::set_hook(Box::new(|_| ()));
    let mut bytes = bytes.to_vec();
    seal(&mut bytes);
    let Ok(model) = Model::from_bytes(&bytes) else { return };
    let written = model.to_bytes().expect("what was read can be written");
    assert!(Model::from_bytes(&written).is_ok(), "what was written can be read");
});
