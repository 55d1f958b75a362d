//! What an object of another language shows: its text, and the form that it wants.

/// An object as it wants to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreign {
    /// The plain form.
    pub text: String,
    /// The form for those who can show it.
    pub form: Form,
}

/// A form that an object has made of itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Markup.
    Html(String),
    /// One `<svg>` element.
    Svg(String),
    /// A file of that format.
    Png(Vec<u8>),
    Markdown(String),
    Latex(String),
}
