//! `os` and `os.path`: paths as text, and folders through the host.

use std::io::ErrorKind;
use std::rc::Rc;

use crate::host::FileError;
use crate::native::*;

/// `os`.
pub static MODULE: NativeModule = NativeModule {
    name: "os",
    doc: "Paths and folders.",
    members: &[
        Member::Module("path", "os.path"),
        Member::Functions(OS_FUNCTIONS),
        Member::Str("sep", "/"),
        Member::Str("linesep", "\n"),
        Member::Str("curdir", "."),
        Member::Str("pardir", ".."),
        Member::Str("name", "posix"),
        Member::Make("environ", environ),
    ],
    aliases: &[],
};

/// `os.path`.
pub static PATH: NativeModule = NativeModule {
    name: "os.path",
    doc: "Paths as text.",
    members: &[Member::Functions(PATH_FUNCTIONS), Member::Str("sep", "/")],
    aliases: &["posixpath"],
};

static OS_FUNCTIONS: &[NativeFn] = &[
    function("fspath", "path, /", "The path as text.", |_cx, args| args.str(0).map(Value::str))
        .pure(),
    function(
        "getenv",
        "key, default=None",
        "A variable of the environment: what `os.environ` holds.",
        getenv,
    )
    .opaque(),
    function("listdir", "path='.'", "Names in a folder.", listdir).opaque(),
    function(
        "makedirs",
        "name, mode=0o777, exist_ok=False",
        "Makes a folder and those above it.",
        makedirs,
    )
    .opaque(),
    function("mkdir", "path, mode=0o777", "Makes a folder in one that exists.", mkdir).opaque(),
];

fn environ(cx: &mut Cx) -> Res {
    let dict = Dict::default();
    for (name, value) in cx.environment.clone() {
        dict.insert(cx, Value::str(&name), Value::str(&value))?;
    }
    Ok(Value::Dict(Rc::new(dict)))
}

fn getenv(cx: &mut Cx, args: Args<'_>) -> Res {
    let module = cx.import("os")?;
    let environ = cx.getattr(&module, Sym::new("environ"))?;
    let found = match environ.as_dict() {
        Some(dict) => dict.get(cx, &args[0])?,
        None => None,
    };
    Ok(found.unwrap_or_else(|| args[1].clone()))
}

static PATH_FUNCTIONS: &[NativeFn] = &[
    function("basename", "p", "What follows the last slash.", |_cx, args| {
        Ok(Value::str(split_path(args.str(0)?).1))
    })
    .pure(),
    function("dirname", "p", "What stands before the last slash.", |_cx, args| {
        Ok(Value::str(split_path(args.str(0)?).0))
    })
    .pure(),
    function("exists", "path", "Whether there is such a file or folder.", exists).opaque(),
    function("isabs", "s", "Whether the path starts at the root.", |_cx, args| {
        Ok(Value::Bool(args.str(0)?.starts_with('/')))
    })
    .pure(),
    function("isdir", "s", "Whether it is a folder.", isdir).opaque(),
    function("isfile", "path", "Whether it is a file.", isfile).opaque(),
    function("join", "a, /, *p", "Parts of a path, joined.", join).pure(),
    function("normpath", "path", "Without `.`, `..` and double slashes.", |_cx, args| {
        Ok(Value::str(normal(args.str(0)?)))
    })
    .pure(),
    function("split", "p", "Folder and name.", |_cx, args| {
        let (head, tail) = split_path(args.str(0)?);
        Ok(Value::tuple([Value::str(head), Value::str(tail)]))
    })
    .pure(),
    function("splitext", "p", "Path without extension, and extension.", |_cx, args| {
        let (root, extension) = split_extension(args.str(0)?);
        Ok(Value::tuple([Value::str(root), Value::str(extension)]))
    })
    .pure(),
];

fn split_path(path: &str) -> (&str, &str) {
    let (head, tail) = path.split_at(path.rfind('/').map_or(0, |at| at + 1));
    let bare = head.trim_end_matches('/');
    (if bare.is_empty() { head } else { bare }, tail)
}

fn split_extension(path: &str) -> (&str, &str) {
    let name_at = path.rfind('/').map_or(0, |at| at + 1);
    let name = &path[name_at..];
    let leading = name.len() - name.trim_start_matches('.').len();
    match name[leading..].rfind('.') {
        Some(dot) => path.split_at(name_at + leading + dot),
        None => (path, ""),
    }
}

fn normal(path: &str) -> String {
    let root = match path {
        _ if path.starts_with("//") && !path.starts_with("///") => "//",
        _ if path.starts_with('/') => "/",
        _ => "",
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|it| !it.is_empty() && *it != ".") {
        match parts.last() {
            _ if part != ".." => parts.push(part),
            Some(&"..") => parts.push(part),
            Some(_) => drop(parts.pop()),
            None if root.is_empty() => parts.push(part),
            None => {}
        }
    }
    let joined = format!("{root}{}", parts.join("/"));
    if joined.is_empty() { ".".into() } else { joined }
}

fn join(_cx: &mut Cx, args: Args<'_>) -> Res {
    let not_text = |it: &Value| {
        type_error(format!("expected str, bytes or os.PathLike object, not {}", type_name(it)))
    };
    let mut path = args[0].as_str().ok_or_else(|| not_text(&args[0]))?.to_owned();
    for part in args.rest(1) {
        let part = part.as_str().ok_or_else(|| not_text(part))?;
        if part.starts_with('/') {
            path.clear();
        } else if !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(part);
    }
    Ok(Value::str(path))
}

fn listdir(cx: &mut Cx, args: Args<'_>) -> Res {
    let names = cx.host.list_dir(args.str(0)?).map_err(os_error)?;
    Ok(Value::list(names.into_iter().map(Value::str).collect()))
}

fn makedirs(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(0)?;
    if cx.truth(&args[2])? && is_folder(cx, path) {
        return Ok(Value::None);
    }
    make_new(cx, path)
}

fn mkdir(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(0)?;
    let above = split_path(path.trim_end_matches('/')).0;
    if !above.is_empty() {
        cx.host.list_dir(above).map_err(os_error)?;
    }
    make_new(cx, path)
}

fn make_new(cx: &mut Cx, path: &str) -> Res {
    if path.is_empty() {
        let message = "a folder needs a name".to_owned();
        return Err(os_error(FileError { kind: ErrorKind::NotFound, message }));
    }
    if is_folder(cx, path) || listed(cx, path) {
        let message = format!("{path}: it is there already");
        return Err(os_error(FileError { kind: ErrorKind::AlreadyExists, message }));
    }
    cx.host.make_dir(path).map_err(os_error)?;
    Ok(Value::None)
}

/// Whether the folder of `path` lists its name; folders answer for themselves.
fn listed(cx: &mut Cx, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let (folder, name) = split_path(path);
    let folder = if folder.is_empty() { "." } else { folder };
    cx.host.list_dir(folder).is_ok_and(|names| names.iter().any(|it| it == name))
}

fn is_folder(cx: &mut Cx, path: &str) -> bool {
    !path.is_empty() && cx.host.list_dir(path).is_ok()
}

fn exists(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(0)?;
    Ok(Value::Bool(is_folder(cx, path) || listed(cx, path)))
}

fn isdir(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(0)?;
    Ok(Value::Bool(is_folder(cx, path)))
}

fn isfile(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(0)?;
    Ok(Value::Bool(listed(cx, path) && !is_folder(cx, path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_paths_apart_like_cpython() {
        assert_eq!(split_path("/a/b"), ("/a", "b"));
        assert_eq!(split_path("/a"), ("/", "a"));
        assert_eq!(split_path("a"), ("", "a"));
        assert_eq!(split_path("a//b/"), ("a//b", ""));
        assert_eq!(split_extension("a.b/c.tar.gz"), ("a.b/c.tar", ".gz"));
        assert_eq!(split_extension(".bashrc"), (".bashrc", ""));
        assert_eq!(normal("a/./b/../../../c//"), "../c");
        assert_eq!(normal("/../a"), "/a");
        assert_eq!(normal(""), ".");
    }
}
