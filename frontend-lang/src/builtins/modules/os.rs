//! `os` and `os.path`: paths as text, and folders through the host.

use std::io::ErrorKind;
use std::rc::Rc;

use crate::host::{FileError, Metadata};
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
        Member::Str("devnull", "/dev/null"),
        Member::Make("environ", environ),
        Member::These("os.tree", &["walk"]),
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
    function("chdir", "path", "Makes paths start from another folder.", |cx, args| {
        let path = path_of(cx, &args[0])?;
        cx.write_all()?;
        cx.change_folder(&path).map(|()| Value::None).map_err(os_error)
    })
    .opaque(),
    function("cpu_count", "", "Processors of this machine.", |_cx, _args| {
        Ok(Value::Int(std::thread::available_parallelism().map_or(1, |it| it.get() as i64)))
    })
    .opaque(),
    function("fspath", "path, /", "The path as text.", |cx, args| {
        path_of(cx, &args[0]).map(Value::str)
    })
    .pure(),
    function("getcwd", "", "The folder that paths start from.", |cx, _args| {
        cx.host.current_dir().map(Value::str).map_err(os_error)
    })
    .opaque(),
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
        "name, mode=511, exist_ok=False",
        "Makes a folder and those above it.",
        makedirs,
    )
    .opaque(),
    function("mkdir", "path, mode=511", "Makes a folder in one that exists.", mkdir).opaque(),
    function("remove", "path", "Removes a file.", remove).opaque(),
    function("rename", "src, dst", "Gives a file or folder another name.", rename).opaque(),
    function("replace", "src, dst", "As rename: a file that has the name is replaced.", rename)
        .opaque(),
    function("rmdir", "path", "Removes an empty folder.", |cx, args| {
        let path = path_of(cx, &args[0])?;
        cx.host.remove_dir(&path).map(|()| Value::None).map_err(os_error)
    })
    .opaque(),
    function("unlink", "path", "Removes a file.", remove).opaque(),
];

/// Text, or what an object with `__fspath__` gives.
pub(crate) fn path_of(cx: &mut Cx, value: &Value) -> Result<String, Raised> {
    if let Some(text) = value.core().as_str() {
        return Ok(text.to_owned());
    }
    let not_path = |it: &Value| {
        type_error(format!("expected str, bytes or os.PathLike object, not {}", type_name(it)))
    };
    let Some(method) = cx.special(value, Sym::new("__fspath__")) else {
        return Err(not_path(value));
    };
    let text = cx.call(&method, std::slice::from_ref(value))?;
    text.as_str().map(str::to_owned).ok_or_else(|| not_path(&text))
}

fn remove(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = path_of(cx, &args[0])?;
    cx.write_out(&path)?;
    cx.host.remove_file(&path).map(|()| Value::None).map_err(os_error)
}

fn rename(cx: &mut Cx, args: Args<'_>) -> Res {
    let (path, to) = (path_of(cx, &args[0])?, path_of(cx, &args[1])?);
    cx.write_out(&path)?;
    cx.host.rename(&path, &to).map(|()| Value::None).map_err(os_error)
}

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
    function("abspath", "path", "The path from the root.", |cx, args| {
        let path = path_of(cx, &args[0])?;
        let from = cx.host.current_dir().map_err(os_error)?;
        Ok(Value::str(normal(&joined(from, &path))))
    })
    .opaque(),
    function("basename", "p", "What follows the last slash.", |cx, args| {
        Ok(Value::str(split_path(&path_of(cx, &args[0])?).1))
    })
    .pure(),
    function("dirname", "p", "What stands before the last slash.", |cx, args| {
        Ok(Value::str(split_path(&path_of(cx, &args[0])?).0))
    })
    .pure(),
    function("exists", "path", "Whether there is such a file or folder.", |cx, args| {
        Ok(Value::Bool(facts(cx, &args[0])?.is_ok()))
    })
    .opaque(),
    function("expanduser", "path", "The path with the user's folder in place of `~`.", expanduser)
        .opaque(),
    function(
        "getmtime",
        "filename",
        "When it was last written, in seconds since 1970.",
        |cx, args| {
            let found = facts(cx, &args[0])?.map_err(os_error)?;
            Ok(Value::Float(found.modified))
        },
    )
    .opaque(),
    function("getsize", "filename", "The bytes of a file.", |cx, args| {
        let found = facts(cx, &args[0])?.map_err(os_error)?;
        Ok(Value::Int(found.size as i64))
    })
    .opaque(),
    function("isabs", "s", "Whether the path starts at the root.", |cx, args| {
        Ok(Value::Bool(path_of(cx, &args[0])?.starts_with('/')))
    })
    .pure(),
    function("isdir", "s", "Whether it is a folder.", |cx, args| {
        Ok(Value::Bool(facts(cx, &args[0])?.is_ok_and(|it| it.is_dir)))
    })
    .opaque(),
    function("isfile", "path", "Whether it is a file.", |cx, args| {
        Ok(Value::Bool(facts(cx, &args[0])?.is_ok_and(|it| !it.is_dir)))
    })
    .opaque(),
    function("join", "a, /, *p", "Parts of a path, joined.", join).pure(),
    function("normpath", "path", "Without `.`, `..` and double slashes.", |cx, args| {
        Ok(Value::str(normal(&path_of(cx, &args[0])?)))
    })
    .pure(),
    function("split", "p", "Folder and name.", |cx, args| {
        let path = path_of(cx, &args[0])?;
        let (head, tail) = split_path(&path);
        Ok(Value::tuple([Value::str(head), Value::str(tail)]))
    })
    .pure(),
    function("splitext", "p", "Path without extension, and extension.", |cx, args| {
        let path = path_of(cx, &args[0])?;
        let (root, extension) = split_extension(&path);
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

fn join(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut path = path_of(cx, &args[0])?;
    for part in args.rest(1) {
        let part = path_of(cx, part)?;
        path = joined(path, &part);
    }
    Ok(Value::str(path))
}

fn joined(mut path: String, part: &str) -> String {
    if part.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path + part
}

fn expanduser(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = path_of(cx, &args[0])?;
    let home = cx.environment.iter().find(|it| it.0 == "HOME").map(|it| it.1.clone());
    match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            Ok(Value::str(home.trim_end_matches('/').to_owned() + rest))
        }
        _ => Ok(Value::str(path)),
    }
}

fn listdir(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = path_of(cx, &args[0])?;
    let names = cx.host.list_dir(&path).map_err(os_error)?;
    Ok(Value::list(names.into_iter().map(Value::str).collect()))
}

/// Refuses permissions that a folder would not get.
fn check_mode(mode: i64) -> Result<(), Raised> {
    match mode {
        0o777 => Ok(()),
        _ => Err(not_implemented(format!(
            "mode={mode:#o}: folders get the usual permissions here; leave the mode out"
        ))),
    }
}

fn makedirs(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = path_of(cx, &args[0])?;
    check_mode(args.int(1)?)?;
    if cx.truth(&args[2])? && cx.host.metadata(&path).is_ok_and(|it| it.is_dir) {
        return Ok(Value::None);
    }
    make_new(cx, &path)
}

fn mkdir(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = path_of(cx, &args[0])?;
    check_mode(args.int(1)?)?;
    let above = split_path(path.trim_end_matches('/')).0;
    if !above.is_empty() {
        cx.host.metadata(above).map_err(os_error)?;
    }
    make_new(cx, &path)
}

fn make_new(cx: &mut Cx, path: &str) -> Res {
    if path.is_empty() {
        let message = "a folder needs a name".to_owned();
        return Err(os_error(FileError { kind: ErrorKind::NotFound, message, path: None }));
    }
    if cx.host.metadata(path).is_ok() {
        let message = format!("{path}: it is there already");
        let path = Some(path.to_owned());
        return Err(os_error(FileError { kind: ErrorKind::AlreadyExists, message, path }));
    }
    cx.host.make_dir(path).map_err(os_error)?;
    Ok(Value::None)
}

/// What is known of a file, with all that this program has written into it.
fn facts(cx: &mut Cx, path: &Value) -> Result<Result<Metadata, FileError>, Raised> {
    let path = path_of(cx, path)?;
    cx.write_out(&path)?;
    Ok(cx.host.metadata(&path))
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
