//! A file is loaded by `torch.load`, as a zip archive, as a pickle in one, or as a file from before PyTorch 1.6: the first byte says which.

#![no_main]

use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};
use libfuzzer_sys::fuzz_target;

/// What PyTorch's archives hold beside the pickle.
const STORAGE: &[u8] = &[0; 64];

fuzz_target!(|bytes: &[u8]| {
    engine::cpu::memory::HOST.set_budget(256 << 20);
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let file = match kind % 2 {
        0 => bytes.to_vec(),
        _ => archive(&[("f/data.pkl", bytes), ("f/data/0", STORAGE), ("f/data/1", STORAGE)]),
    };
    let record = Rc::new(Record::default());
    record.files.borrow_mut().insert("f.pt".to_owned(), file);
    let mut session = Session::new(Box::new(Recording { record }));
    session.cx.memory_limit = 64 << 20;
    session.run_cell("import torch\nprint(torch.load('f.pt', weights_only=False))", &Options::default());
});

/// A zip archive of files that are not packed.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored);
    for (name, content) in members {
        writer.start_file(*name, options).expect("a file");
        std::io::Write::write_all(&mut writer, content).expect("its content");
    }
    writer.finish().expect("an archive").into_inner()
}
