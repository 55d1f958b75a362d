//! What can be asked of the process, by number: the order is that of `REQUESTS` in the worker.

/// One kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// name: whether there is such a package
    Find = 2,
    /// name
    Import,
    /// target, name
    GetAttr,
    /// target, name, value
    SetAttr,
    /// target, name
    DelAttr,
    /// target, arguments, pairs of names and values
    Call,
    /// target, name, arguments, pairs of names and values
    CallMethod,
    /// target, name, arguments: a special method, of the type
    CallSpecial,
    /// name, left, right
    Binary,
    /// name, target
    Unary,
    /// name, target
    Convert,
    /// target, index
    GetItem,
    /// target, index, value
    SetItem,
    /// target, index
    DelItem,
    /// target, item
    Contains,
    /// target
    Iter,
    /// target, how many
    Next,
    /// target
    Enter,
    /// target, exception
    Exit,
    /// target, text
    Format,
    /// target: names of attributes
    Dir,
    /// target, class
    IsInstance,
    /// target
    Array,
    /// target: how it wants to be shown
    Form,
    /// target: the figures that are open, but for this one
    Figures,
    /// target: its help, parameters, and the same of its members
    Describe,
    /// text, name: the value of its last expression
    Run,
    /// name, value
    SetName,
    /// name
    GetName,
    /// path
    ChangeFolder,
    /// target
    Type,
    /// target: an exception, or a class of exceptions
    Raise,
}
