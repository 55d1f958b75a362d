//! Built-in modules written in Rust, one file each.

mod anomaly;
mod archive;
mod array_files;
pub mod cmath;
pub mod collections;
pub mod copy;
pub mod cuda;
pub mod deque;
pub mod files;
pub mod gc;
pub mod generator;
pub mod grad_mode;
pub mod importlib;
pub mod inspect;
pub mod itertools;
mod itertools_pick;
pub mod jit;
pub mod json;
mod json_dump;
pub mod math;
mod math_int;
pub mod megengine;
pub mod notegrad;
pub mod numpy;
pub mod operator;
pub mod os;
mod pickle;
mod pickle_dump;
pub mod pyplot;
pub mod random;
mod random_distributions;
pub mod re;
mod re_match;
mod re_template;
pub mod rows;
pub mod string;
pub mod sys;
pub mod tensor_files;
pub mod time;
pub mod torch;
pub mod traceback;
pub mod training;
pub mod typing;
pub mod warnings;

use crate::native::NativeModule;

/// All of them.
pub static ALL: &[&NativeModule] = &[
    &super::shell::MODULE,
    &super::show::PACKAGE,
    &super::show::MODULE,
    &super::show::PRIVATE,
    &cmath::MODULE,
    &importlib::MODULE,
    &inspect::MODULE,
    &itertools::MODULE,
    &math::MODULE,
    &random::MODULE,
    &time::MODULE,
    &pyplot::MAPS,
    &pyplot::SETTINGS,
    &pyplot::MATPLOTLIB,
    &pyplot::PYPLOT,
    &pyplot::STYLE,
    &megengine::MEGENGINE,
    &megengine::FUNCTIONAL,
    &megengine::MODULE,
    &megengine::OPTIMIZER,
    &notegrad::NOTEGRAD,
    &jit::JIT,
    &megengine::ONEFLOW,
    &megengine::ONEFLOW_NN,
    &megengine::ONEFLOW_OPTIM,
    &torch::TORCH,
    &torch::AUTOGRAD,
    &torch::FACTORS,
    &torch::ROWS,
    &cuda::MODULE,
    &torch::FUNCTIONAL,
    &torch::RANDOM,
    &collections::MODULE,
    &copy::MODULE,
    &files::MODULE,
    &gc::MODULE,
    &json::MODULE,
    &numpy::NUMPY,
    &numpy::CORE,
    &numpy::EXCEPTIONS,
    &numpy::LINALG,
    &numpy::NATIVE,
    &numpy::RANDOM,
    &numpy::TESTING,
    &operator::MODULE,
    &os::MODULE,
    &os::PATH,
    &re::MODULE,
    &rows::MODULE,
    &string::MODULE,
    &sys::MODULE,
    &tensor_files::MODULE,
    &traceback::MODULE,
    &training::MODULE,
    &typing::MODULE,
    &warnings::MODULE,
];
