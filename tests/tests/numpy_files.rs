//! Arrays in files: what NumPy wrote (`tests/numpy/files`) is read, and what is written here is byte for byte what NumPy writes.

use std::path::Path;
use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

/// What a cell prints beside NumPy's files, and the session's files afterwards.
fn ran(code: &str) -> (String, Rc<Record>) {
    let record = Rc::new(Record::default());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("numpy/files");
    for entry in std::fs::read_dir(folder).expect("the folder of files") {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        record.files.borrow_mut().insert(name, std::fs::read(path).expect("its bytes"));
    }
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let result = session.run_cell(&format!("import numpy as np\n{code}"), &Options::default());
    let error = result.error.map(|it| format!("{}: {}", it.ename, it.evalue)).unwrap_or_default();
    let out = format!("{}{error}", record.stdout.borrow());
    (out, record)
}

#[track_caller]
fn check(code: &str, expected: &str) {
    assert_eq!(ran(code).0.trim_end(), expected);
}

#[test]
fn reads_what_numpy_wrote() {
    check(
        "a = np.load('floats.npy'); print(a, a.dtype, np.load('number.npy'))",
        "[[0.   0.25 0.5 ]\n [0.75 1.   1.25]] float64 True",
    );
    check(
        "a = np.load('columns.npy'); print(a.tolist(), a.dtype, a.shape)",
        "[[0, 3], [1, 4], [2, 5]] int32 (3, 2)",
    );
    check("a = np.load('short.npy'); print(a, a.dtype)", "[ -1 300] int16");
    check(
        "a = np.load('halves.npy'); print(a, a.dtype, np.load('unsigned.npy'), np.load('wide.npy'))",
        "[ 1.00e-01 -6.55e+04       inf] float16 [    0 65535] [         0 4294967295]",
    );
    check("a = np.load('bytes.npy'); print(a.tolist(), a.dtype)", "[[1, -128], [127, 0]] int8");
    check(
        "f = np.load('arrays.npz'); print(f.files, f['arr_0'], f['weights'].dtype, 'weights' in f)",
        "['weights', 'arr_0'] [0 1 2] float32 True",
    );
    check(
        "with np.load('packed.npz') as f: print(f['zeros'].shape, f['steps'].sum(), f['steps'][:9])",
        "(500,) 594 [0 1 2 3 4 5 6 0 1]",
    );
}

#[test]
fn writes_what_numpy_writes() {
    let code = "np.save('own_floats', np.arange(6.0).reshape(2, 3) / 4)\n\
                np.save('own_columns.npy', np.arange(6, dtype=np.int32).reshape(2, 3).T)\n\
                np.save('own_number.npy', np.array(True))\n\
                np.save('own_halves.npy', np.array([0.1, -65504, np.inf], dtype=np.float16))\n\
                np.save('own_bytes.npy', np.array([[1, -128], [127, 0]], dtype=np.int8))\n\
                np.save('own_unsigned.npy', np.array([0, 65535], dtype=np.uint16))";
    let (out, record) = ran(code);
    assert_eq!(out, "");
    let files = record.files.borrow();
    for name in
        ["floats.npy", "columns.npy", "number.npy", "halves.npy", "bytes.npy", "unsigned.npy"]
    {
        assert_eq!(files[&format!("own_{name}")], files[name], "{name}");
    }
}

/// Arrays hold no complex numbers: they come as tensors, and go as such.
#[test]
fn complex_numbers_come_as_tensors() {
    let code = "import torch\n\
                z = np.load('complex128.npy')\n\
                print(type(z).__name__, z.dtype, z.shape, z.tolist())\n\
                print([torch.equal(z[[0, 2]], it[[0, 2]]) for it in (np.load('complex_columns.npy').T, np.load('complex_swapped.npy'))])\n\
                print(torch.from_numpy(np.load('complex64.npy')))\n\
                f = np.load('complex.npz')\n\
                print(f['z'], f['x'])\n\
                np.save('own_complex128.npy', z)\n\
                np.save('own_complex_columns.npy', z.T)\n\
                np.save('own_complex64.npy', np.load('complex64.npy').conj().conj())\n\
                np.savez('own.npz', z=f['z'], x=f['x'])\n\
                print(np.load('own.npz')['z'])\n\
                np.save('no', torch.ones(1, dtype=torch.cfloat, requires_grad=True))";
    let (out, record) = ran(code);
    let expected = "Tensor torch.complex128 torch.Size([3, 2]) [[(1+2j), (-0+1e-300j)], [(nan-infj), 0.1j], [(3+0j), (-1e+200+0j)]]\n\
                    [True, True]\n\
                    tensor([1.0000+2.j, 0.1000-3.j])\n\
                    tensor([ 0.+1.j, -2.+0.j]) [0 1]\n\
                    tensor([ 0.+1.j, -2.+0.j])\n\
                    RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.";
    assert_eq!(out.trim_end(), expected);
    let files = record.files.borrow();
    for name in ["complex128.npy", "complex_columns.npy", "complex64.npy"] {
        assert_eq!(files[&format!("own_{name}")], files[name], "{name}");
    }
}

#[test]
fn archives_come_back() {
    check(
        "np.savez('own.npz', np.arange(3), b=np.ones((2, 2)), e=np.zeros((0, 3)))\n\
         f = np.load('own.npz')\n\
         print(f, f.files, f['arr_0'], f['b'].sum(), f['e'].shape)\n\
         f['c']",
        "NpzFile 'own.npz' with keys: b, e, arr_0 ['b', 'e', 'arr_0'] [0 1 2] 4.0 (0, 3)\nKeyError: 'c is not a file in the archive'",
    );
}

#[test]
fn damaged_files_are_errors() {
    let (_, record) = ran("");
    let files = record.files.borrow().clone();
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    session.run_cell("import numpy as np", &Options::default());
    record.files.borrow_mut().insert("a.txt".to_owned(), b"no array, only words".to_vec());
    let told = session.run_cell("np.load('a.txt')", &Options::default()).error.expect("an error");
    assert!(told.evalue.starts_with("a.txt holds no arrays: np.save"), "{}", told.evalue);
    for (name, content) in &files {
        for length in (0..content.len()).step_by(11) {
            record.files.borrow_mut().insert("cut".to_owned(), content[..length].to_vec());
            let result = session.run_cell("np.load('cut')", &Options::default());
            assert!(result.error.is_some(), "{name} of {length} bytes");
        }
    }
}

#[test]
fn text_tables_go_and_come() {
    check(
        "np.savetxt('t.csv', np.array([[1, 2.5], [3, 4]]), delimiter=',', fmt='%.2f', header='a,b')\n\
         print(np.loadtxt('t.csv', delimiter=','), np.loadtxt('t.csv', delimiter=',', usecols=1), np.genfromtxt('t.csv', delimiter=',', skip_header=1).shape)",
        "[[1.  2.5]\n [3.  4. ]] [2.5 4. ] (2, 2)",
    );
    check(
        "np.loadtxt(['1 2', '3 x'])",
        "ValueError: could not convert string 'x' to float64 at row 1, column 2.",
    );
}
