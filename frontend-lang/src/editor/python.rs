//! What is known of objects of Python: help and parameters of their members, asked once for each module, class and type.

use std::collections::HashMap;
use std::sync::Arc;

use super::subject::{Members, Param, Subject};
use crate::cx::Cx;
use crate::objects::class::type_name;
use crate::params::Kind;
use crate::python::proxy::Proxy;
use crate::python::wire::{Datum, Malformed, parts};
use crate::value::Value;

/// Objects whose help is kept.
const MOST: usize = 400;

/// What is known of one object. `known` keeps what was asked.
pub(super) fn subject(
    cx: &mut Cx,
    proxy: &Proxy,
    value: &Value,
    known: &mut HashMap<(u32, i64), Arc<Subject>>,
) -> Arc<Subject> {
    let key = cx.python_help_key(proxy);
    if known.len() > MOST {
        known.clear();
    }
    let about = match known.get(&key) {
        Some(about) => about.clone(),
        None => {
            let about = cx.python_help(proxy).ok().and_then(|it| of_help(it).ok()).map(Arc::new);
            if let Some(about) = &about {
                known.insert(key, about.clone());
            }
            about.unwrap_or_default()
        }
    };
    let type_name = type_name(value).to_owned();
    let kind = match (proxy.is_module(), proxy.is_class()) {
        (true, _) => "module",
        (_, true) => "class",
        _ if proxy.is_function() => "function",
        _ => "instance",
    };
    Arc::new(Subject { kind, type_name, ..(*about).clone() })
}

fn of_help(told: Datum) -> Result<Subject, Malformed> {
    let [doc, params, members] = parts(told.items()?)?;
    let members: Result<Members, Malformed> = members.items()?.into_iter().map(member).collect();
    let (own_doc, own_params) = (doc.text()?, of_params(params)?);
    Ok(Subject { own_doc, own_params, own_members: Arc::new(members?), ..Subject::of("instance") })
}

fn member(told: Datum) -> Result<(String, Arc<Subject>), Malformed> {
    let [name, kind, doc, params] = parts(told.items()?)?;
    let name = name.text()?;
    let kind = match kind.text()?.as_str() {
        "module" => "module",
        "property" => "property",
        "class" => "class",
        "function" => "function",
        _ => "instance",
    };
    let (own_doc, own_params) = (doc.text()?, of_params(params)?);
    let subject = Subject { name: name.clone(), own_doc, own_params, ..Subject::of(kind) };
    Ok((name, Arc::new(subject)))
}

fn of_params(told: Datum) -> Result<Vec<Param>, Malformed> {
    let param = |it: Datum| {
        let [name, kind, hint, default] = parts(it.items()?)?;
        // As Python's `inspect` numbers them.
        let kind = match kind.int()? {
            0 => Kind::PositionalOnly,
            2 => Kind::Rest,
            3 => Kind::KeywordOnly,
            4 => Kind::Keywords,
            _ => Kind::Both,
        };
        Ok(Param { name: name.text()?, kind, hint: hint.text()?, default: default.text().ok() })
    };
    told.items()?.into_iter().map(param).collect()
}
