//! Reading model files. Nothing in them is trusted: sizes, offsets, shapes, names and ops are checked, and whatever is
//! wrong is an error.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use safetensors::SafeTensors;

use super::{AnySize, FORMAT, Model, TestCase, VERSION, checksum};
use crate::graph::sizes::Template;
use crate::region::{self, parse};
use crate::{DType, Error, Meta, Result, Shape, Tensor, atomic_file};

/// Most weights, and most test cases.
const MOST: usize = 1 << 20;

impl Model {
    /// Reads a model file.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_bytes(&atomic_file::read(path).map_err(atomic_file::about(path))?)
    }

    /// A model from the content of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        // Shape rules of ops meet attributes here that no user could pass; a rule that is not prepared must not end the
        // process.
        let read = catch_unwind(AssertUnwindSafe(|| read(bytes)));
        read.unwrap_or_else(|_| Err(damaged("its graph makes no sense")))
    }
}

fn read(bytes: &[u8]) -> Result<Model> {
    let (_, header) = SafeTensors::read_metadata(bytes)
        .map_err(|it| damaged(&format!("it is not a safetensors file: {it}")))?;
    let metadata = header.metadata().as_ref().ok_or_else(|| damaged("it has no metadata"))?;
    let text = |name: &str| {
        metadata
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| damaged(&format!("it has no `{name}`")))
    };
    if text("format")? != FORMAT {
        return Err(damaged("it holds no model of ours"));
    }
    if text("version")? != VERSION.to_string() {
        return Err(damaged(&format!("it has version {}, {VERSION} is known", text("version")?)));
    }
    let file = SafeTensors::deserialize(bytes)
        .map_err(|it| damaged(&format!("its tensors are damaged: {it}")))?;
    let count = |prefix: &str| {
        let mut n = 0;
        while n < MOST && file.tensor(&format!("{prefix}.{n}")).is_ok() {
            n += 1;
        }
        n
    };
    let list = |prefix: &str| -> Result<Vec<Tensor>> {
        (0..count(prefix)).map(|idx| tensor(&file, &format!("{prefix}.{idx}"))).collect()
    };
    let graph = parse(text("graph")?, &list("weight")?)?;
    let mut model = Model::new(graph, &names(text("inputs")?)?, &names(text("outputs")?)?)
        .map_err(|it| damaged(&it.to_string()))?;
    text("info")?.clone_into(&mut model.info);
    if metadata.contains_key("any sizes") {
        let any = any_sizes(text("any sizes")?)?;
        let names = any.iter().map(|it| it.name.clone()).collect();
        let template = text("graph for any sizes")?.to_owned();
        let template = Template::stored(template, names, region::region_of);
        model = template
            .and_then(|it| model.with_any_sizes(it, any))
            .map_err(|it| damaged(&it.to_string()))?;
    }
    let n_cases: usize = text("cases")?.parse().map_err(|_| damaged("`cases` is no number"))?;
    for idx in 0..n_cases.min(MOST) {
        let inputs = list(&format!("case.{idx}.input"))?;
        let outputs = list(&format!("case.{idx}.output"))?;
        model.cases.push(checked_case(&model, TestCase { inputs, outputs }, idx)?);
    }
    // Last, since what is wrong in itself can be named better.
    if !checksum::holds(bytes) {
        return Err(damaged("its checksum is wrong: copy or write the file again"));
    }
    Ok(model)
}

fn checked_case(model: &Model, case: TestCase, idx: usize) -> Result<TestCase> {
    let metas = |tensors: &[Tensor]| -> Vec<Meta> { tensors.iter().map(Tensor::meta).collect() };
    let inputs: Vec<Meta> = model.inputs().into_iter().map(|it| it.meta).collect();
    let outputs: Vec<Meta> = model.outputs().into_iter().map(|it| it.meta).collect();
    if metas(&case.inputs) != inputs || metas(&case.outputs) != outputs {
        return Err(damaged(&format!("test case {idx} does not fit the graph")));
    }
    Ok(case)
}

fn tensor(file: &SafeTensors<'_>, name: &str) -> Result<Tensor> {
    let view = file.tensor(name).map_err(|_| damaged(&format!("{name} is missing")))?;
    let known = DType::ALL
        .into_iter()
        .find(|it| it.safetensors() == Some(view.dtype().to_string().as_str()));
    let dtype = known.ok_or_else(|| damaged(&format!("{name} has dtype {}", view.dtype())))?;
    Tensor::from_le_bytes(view.data(), Shape::new(view.shape()), dtype).map_err(|it| match it {
        Error::File { problem } => damaged(&format!("{name}: {problem}")),
        other => other,
    })
}

fn any_sizes(text: &str) -> Result<Vec<AnySize>> {
    let broken = || damaged("its dimensions of any size are damaged");
    let all: Vec<serde_json::Value> = serde_json::from_str(text).map_err(|_| broken())?;
    let one = |it: &serde_json::Value| {
        let name = it.get("name")?.as_str()?.to_owned();
        let places = it.get("places")?.as_array()?;
        let place = |it: &serde_json::Value| {
            let at = |at: usize| usize::try_from(it.get(at)?.as_u64()?).ok();
            Some((at(0)?, at(1)?))
        };
        let places = places.iter().map(place).collect::<Option<_>>()?;
        // A file without it takes all sizes.
        let lowest = match it.get("lowest") {
            None => 0,
            Some(it) => usize::try_from(it.as_u64()?).ok()?,
        };
        Some(AnySize { name, places, lowest })
    };
    all.iter().map(|it| one(it).ok_or_else(broken)).collect()
}

fn names(text: &str) -> Result<Vec<String>> {
    serde_json::from_str(text).map_err(|_| damaged("its names are damaged"))
}

fn damaged(problem: &str) -> Error {
    Error::File { problem: format!("this model file cannot be used: {problem}") }
}
