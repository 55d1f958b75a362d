//! Expressions.

use std::rc::Rc;

use ruff_python_ast as py;

use super::Lower;
use crate::ast::*;
use crate::operate::{BinaryOp, CompareOp, UnaryOp};
use crate::sym::Sym;

impl Lower<'_> {
    pub(super) fn expr(&mut self, node: &py::Expr) -> Expr {
        if !self.descend(node) {
            self.ascend();
            return self.placeholder(node);
        }
        let kind = self.expr_kind(node);
        self.ascend();
        Expr { range: self.range(node), kind }
    }

    fn boxed(&mut self, node: &py::Expr) -> Box<Expr> {
        Box::new(self.expr(node))
    }

    fn opt_boxed(&mut self, node: &Option<Box<py::Expr>>) -> Option<Box<Expr>> {
        node.as_ref().map(|it| self.boxed(it))
    }

    pub(super) fn exprs(&mut self, nodes: &[py::Expr]) -> Vec<Expr> {
        nodes.iter().map(|it| self.expr(it)).collect()
    }

    fn expr_kind(&mut self, node: &py::Expr) -> ExprKind {
        match node {
            py::Expr::NoneLiteral(_) => ExprKind::None,
            py::Expr::BooleanLiteral(it) => ExprKind::Bool(it.value),
            py::Expr::EllipsisLiteral(_) => ExprKind::Ellipsis,
            py::Expr::NumberLiteral(it) => self.number(it, false),
            py::Expr::StringLiteral(it) => ExprKind::Str(it.value.to_str().to_owned()),
            py::Expr::FString(it) => ExprKind::FString(self.f_string(it)),
            py::Expr::Name(it) => ExprKind::Name(self.mangled(it.id.as_str())),
            py::Expr::Attribute(it) => ExprKind::Attribute {
                value: self.boxed(&it.value),
                name: self.name(&it.attr),
                name_range: self.range(&it.attr),
            },
            py::Expr::Subscript(it) => {
                ExprKind::Subscript { value: self.boxed(&it.value), index: self.boxed(&it.slice) }
            }
            py::Expr::Slice(it) => ExprKind::Slice {
                start: self.opt_boxed(&it.lower),
                stop: self.opt_boxed(&it.upper),
                step: self.opt_boxed(&it.step),
            },
            py::Expr::Call(it) => self.call(it),
            py::Expr::UnaryOp(it) => self.unary(it),
            py::Expr::BinOp(it) => ExprKind::Binary {
                op: binary_op(it.op),
                left: self.boxed(&it.left),
                right: self.boxed(&it.right),
            },
            py::Expr::Compare(it) => self.compare(it),
            py::Expr::BoolOp(it) => {
                let values = self.exprs(&it.values);
                if it.op == py::BoolOp::And { ExprKind::And(values) } else { ExprKind::Or(values) }
            }
            py::Expr::If(it) => ExprKind::IfElse {
                test: self.boxed(&it.test),
                body: self.boxed(&it.body),
                orelse: self.boxed(&it.orelse),
            },
            py::Expr::Tuple(it) => ExprKind::Tuple(self.exprs(&it.elts)),
            py::Expr::List(it) => ExprKind::List(self.exprs(&it.elts)),
            py::Expr::Set(it) => ExprKind::Set(self.exprs(&it.elts)),
            py::Expr::Dict(it) => ExprKind::Dict(
                it.items
                    .iter()
                    .map(|item| {
                        (item.key.as_ref().map(|key| self.expr(key)), self.expr(&item.value))
                    })
                    .collect(),
            ),
            py::Expr::Starred(it) => ExprKind::Starred(self.boxed(&it.value)),
            py::Expr::Lambda(it) => ExprKind::Lambda(Rc::new(self.lambda(it))),
            py::Expr::ListComp(it) => {
                self.comprehension(ComprehensionKind::List, &it.elt, None, &it.generators)
            }
            py::Expr::SetComp(it) => {
                self.comprehension(ComprehensionKind::Set, &it.elt, None, &it.generators)
            }
            py::Expr::DictComp(it) => match &it.key {
                Some(key) => {
                    let kind = ComprehensionKind::Dict;
                    self.comprehension(kind, key, Some(&it.value), &it.generators)
                }
                None => {
                    self.refuse(node, "`**` in a comprehension is", "build the dict in a loop");
                    ExprKind::None
                }
            },
            py::Expr::Generator(it) => {
                self.comprehension(ComprehensionKind::Generator, &it.elt, None, &it.generators)
            }
            py::Expr::Named(it) => match &*it.target {
                py::Expr::Name(name) => ExprKind::Walrus {
                    name: self.mangled(name.id.as_str()),
                    value: self.boxed(&it.value),
                },
                other => {
                    self.mistake(other, "only a name can stand before `:=`");
                    ExprKind::None
                }
            },
            py::Expr::Yield(it) => {
                self.note_yield(node);
                ExprKind::Yield(self.opt_boxed(&it.value))
            }
            py::Expr::YieldFrom(it) => {
                self.note_yield(node);
                ExprKind::YieldFrom(self.boxed(&it.value))
            }
            py::Expr::Await(_) => {
                self.refuse(node, "`await` is", "call the function directly");
                ExprKind::None
            }
            py::Expr::BytesLiteral(_) => {
                self.refuse(node, "bytes literals are", "use a str, or a tensor of u8");
                ExprKind::None
            }
            py::Expr::TString(_) => {
                self.refuse(node, "template strings are", "use an f-string");
                ExprKind::None
            }
            py::Expr::IpyEscapeCommand(_) => {
                self.refuse(
                    node,
                    "a magic inside an expression is",
                    "put the magic on a line of its own",
                );
                ExprKind::None
            }
        }
    }

    fn note_yield(&mut self, node: &py::Expr) {
        match self.yields.as_mut_slice() {
            [] | [_] => self.mistake(node, "'yield' outside function"),
            [.., last] => *last = true,
        }
    }

    fn number(&mut self, node: &py::ExprNumberLiteral, negative: bool) -> ExprKind {
        match &node.value {
            py::Number::Int(it) => match it.as_i64() {
                Some(int) => ExprKind::Int(if negative { -int } else { int }),
                None if negative && it.to_string() == "9223372036854775808" => {
                    ExprKind::Int(i64::MIN)
                }
                None => {
                    let help = "integers have 64 bits; write a float such as 1e20";
                    self.refuse(node, "an integer this large is", help);
                    ExprKind::None
                }
            },
            py::Number::Float(it) => ExprKind::Float(if negative { -it } else { *it }),
            py::Number::Complex { imag, .. } => ExprKind::Imaginary(*imag),
        }
    }

    fn unary(&mut self, node: &py::ExprUnaryOp) -> ExprKind {
        if node.op == py::UnaryOp::USub
            && let py::Expr::NumberLiteral(number) = &*node.operand
            && !number.value.is_complex()
        {
            return self.number(number, true);
        }
        let value = self.boxed(&node.operand);
        let op = match node.op {
            py::UnaryOp::Not => return ExprKind::Not(value),
            py::UnaryOp::Invert => UnaryOp::Invert,
            py::UnaryOp::UAdd => UnaryOp::Pos,
            py::UnaryOp::USub => UnaryOp::Neg,
        };
        ExprKind::Unary { op, value }
    }

    fn compare(&mut self, node: &py::ExprCompare) -> ExprKind {
        let first = self.boxed(&node.left);
        let rest = node.ops.iter().zip(node.comparators.iter());
        ExprKind::Compare {
            first,
            rest: rest.map(|(op, right)| (comparison(*op), self.expr(right))).collect(),
        }
    }

    fn call(&mut self, node: &py::ExprCall) -> ExprKind {
        self.refuse_out_of_reach(node);
        let func = self.boxed(&node.func);
        let mut args: Vec<(u32, Arg)> = Vec::new();
        for arg in &node.arguments.args {
            let at = self.range(arg).start;
            args.push((
                at,
                match arg {
                    py::Expr::Starred(it) => Arg::Star(self.expr(&it.value)),
                    other => Arg::Positional(self.expr(other)),
                },
            ));
        }
        for keyword in &node.arguments.keywords {
            let at = self.range(keyword).start;
            let value = self.expr(&keyword.value);
            args.push((
                at,
                match &keyword.arg {
                    Some(name) => Arg::Keyword(self.name(name), value),
                    None => Arg::StarStar(value),
                },
            ));
        }
        args.sort_by_key(|(at, _)| *at);
        ExprKind::Call { func, args: args.into_iter().map(|(_, arg)| arg).collect() }
    }

    fn refuse_out_of_reach(&mut self, node: &py::ExprCall) {
        let py::Expr::Name(name) = &*node.func else { return };
        let help = match name.id.as_str() {
            "exec" | "eval" | "compile" => "write the code in a cell, or a function",
            "globals" | "locals" => "keep the values in a dict",
            "vars" if node.arguments.args.is_empty() => "keep the values in a dict",
            "__import__" => "use `import`",
            _ => return,
        };
        self.refuse(&name.clone(), &format!("`{}` is", name.id), help);
    }

    fn comprehension(
        &mut self,
        kind: ComprehensionKind,
        item: &py::Expr,
        value: Option<&py::Expr>,
        generators: &[py::Comprehension],
    ) -> ExprKind {
        let scope = self.scope();
        let clauses = generators
            .iter()
            .map(|it| {
                if it.is_async {
                    self.refuse(it, "`async for` is", "use `for`");
                }
                Clause {
                    target: self.expr(&it.target),
                    iter: self.expr(&it.iter),
                    tests: self.exprs(&it.ifs),
                }
            })
            .collect();
        let item = self.expr(item);
        let value = value.map(|it| self.expr(it));
        ExprKind::Comprehension(Box::new(Comprehension { scope, kind, item, value, clauses }))
    }

    fn f_string(&mut self, node: &py::ExprFString) -> Vec<FPart> {
        let mut parts = Vec::new();
        for part in node.value.as_slice() {
            match part {
                py::FStringPart::Literal(it) => parts.push(FPart::Text(it.value.to_string())),
                py::FStringPart::FString(it) => {
                    for element in &it.elements {
                        self.f_element(element, &mut parts);
                    }
                }
            }
        }
        parts
    }

    fn f_element(&mut self, element: &py::InterpolatedStringElement, parts: &mut Vec<FPart>) {
        match element {
            py::InterpolatedStringElement::Literal(it) => {
                parts.push(FPart::Text(it.value.to_string()));
            }
            py::InterpolatedStringElement::Interpolation(it) => {
                let mut conversion = match it.conversion {
                    py::ConversionFlag::None => Conversion::None,
                    py::ConversionFlag::Str => Conversion::Str,
                    py::ConversionFlag::Ascii => Conversion::Ascii,
                    py::ConversionFlag::Repr => Conversion::Repr,
                };
                if it.debug_text.is_some() {
                    parts.push(FPart::Text(self.debug_text(it)));
                    if conversion == Conversion::None && it.format_spec.is_none() {
                        conversion = Conversion::Repr;
                    }
                }
                let mut spec = Vec::new();
                for element in it.format_spec.iter().flat_map(|spec| spec.elements.iter()) {
                    self.f_element(element, &mut spec);
                }
                parts.push(FPart::Value { value: self.expr(&it.expression), conversion, spec });
            }
        }
    }

    /// The text before the value of `{x = }`, up to and with the equals sign and blanks around it.
    fn debug_text(&self, node: &py::InterpolatedElement) -> String {
        let whole = &self.text[node.range];
        let inner = whole.strip_prefix('{').unwrap_or(whole);
        let after = self.range(&*node.expression).end - self.range(node).start;
        let tail = &whole[after as usize..];
        let rest = tail.trim_start_matches(|it: char| it == ')' || it.is_whitespace());
        let equals = tail.len() - rest.len();
        let blanks = rest.strip_prefix('=').unwrap_or(rest);
        let blanks = blanks.len() - blanks.trim_start().len();
        let end = (after as usize + equals + 1 + blanks).min(whole.len());
        inner[..end - (whole.len() - inner.len())].to_owned()
    }

    fn lambda(&mut self, node: &py::ExprLambda) -> Function {
        let scope = self.scope();
        let (params, _) = match &node.parameters {
            Some(parameters) => self.parameters(parameters),
            None => Default::default(),
        };
        self.yields.push(false);
        let body = self.expr(&node.body);
        let is_generator = self.yields.pop().unwrap_or(false);
        let range = self.range(node);
        let body = vec![Stmt { range: body.range, kind: StmtKind::Return(Some(body)) }];
        Function {
            scope,
            name: Sym::new("<lambda>"),
            name_range: range,
            range,
            params,
            body,
            is_generator,
            doc: None,
            annotations: Vec::new(),
            type_params: Vec::new(),
        }
    }
}

pub(super) fn binary_op(op: py::Operator) -> BinaryOp {
    match op {
        py::Operator::Add => BinaryOp::Add,
        py::Operator::Sub => BinaryOp::Sub,
        py::Operator::Mult => BinaryOp::Mul,
        py::Operator::MatMult => BinaryOp::MatMul,
        py::Operator::Div => BinaryOp::TrueDiv,
        py::Operator::Mod => BinaryOp::Mod,
        py::Operator::Pow => BinaryOp::Pow,
        py::Operator::LShift => BinaryOp::LShift,
        py::Operator::RShift => BinaryOp::RShift,
        py::Operator::BitOr => BinaryOp::Or,
        py::Operator::BitXor => BinaryOp::Xor,
        py::Operator::BitAnd => BinaryOp::And,
        py::Operator::FloorDiv => BinaryOp::FloorDiv,
    }
}

fn comparison(op: py::CmpOp) -> Comparison {
    match op {
        py::CmpOp::Eq => Comparison::Rich(CompareOp::Eq),
        py::CmpOp::NotEq => Comparison::Rich(CompareOp::Ne),
        py::CmpOp::Lt => Comparison::Rich(CompareOp::Lt),
        py::CmpOp::LtE => Comparison::Rich(CompareOp::Le),
        py::CmpOp::Gt => Comparison::Rich(CompareOp::Gt),
        py::CmpOp::GtE => Comparison::Rich(CompareOp::Ge),
        py::CmpOp::Is => Comparison::Is,
        py::CmpOp::IsNot => Comparison::IsNot,
        py::CmpOp::In => Comparison::In,
        py::CmpOp::NotIn => Comparison::NotIn,
    }
}
