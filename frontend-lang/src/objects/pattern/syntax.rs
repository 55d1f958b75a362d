//! What is wrong with a regular expression, in Python's words and with its place. It is asked once a pattern was refused, and
//! refuses nothing itself: what it does not know gives `None`.

/// A message and the place it speaks of, counted in characters.
type Problem = (String, usize);

/// The first mistake of a pattern.
pub(super) fn problem(source: &str, verbose: bool) -> Option<String> {
    let chars: Vec<char> = source.chars().collect();
    let mut reader = Reader {
        chars,
        at: 0,
        names: Vec::new(),
        groups: 0,
        closed: Vec::new(),
        verbose,
        depth: 0,
    };
    let (text, at) = reader.pattern().err()?;
    Some(format!("{text} at position {at}"))
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    /// Names of groups and their numbers.
    names: Vec<(String, usize)>,
    groups: usize,
    /// Numbers of the groups that have ended.
    closed: Vec<usize>,
    verbose: bool,
    /// Groups that are open.
    depth: usize,
}

/// Groups inside each other that are looked at.
const DEEPEST: usize = 200;

/// What stands before a repetition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    Nothing,
    One,
    Repeat,
}

fn fail<T>(text: impl Into<String>, at: usize) -> Result<T, Problem> {
    Err((text.into(), at))
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn take(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.at += 1;
        Some(found)
    }

    fn takes(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn pattern(&mut self) -> Result<(), Problem> {
        self.alternatives()?;
        if self.peek().is_some() {
            return fail("unbalanced parenthesis", self.at);
        }
        Ok(())
    }

    /// Up to a closing parenthesis, or the end.
    fn alternatives(&mut self) -> Result<(), Problem> {
        let mut item = Item::Nothing;
        while let Some(it) = self.peek() {
            let start = self.at;
            match it {
                ')' => return Ok(()),
                _ if self.verbose && it.is_whitespace() => self.at += 1,
                '#' if self.verbose => while self.take().is_some_and(|it| it != '\n') {},
                '|' | '^' | '$' => {
                    self.at += 1;
                    item = Item::Nothing;
                }
                '*' | '+' | '?' => {
                    self.at += 1;
                    self.repeat(&mut item, start)?;
                }
                '{' => {
                    self.at += 1;
                    match self.bounds(start)? {
                        true => self.repeat(&mut item, start)?,
                        false => item = Item::One,
                    }
                }
                '(' => {
                    self.at += 1;
                    item = if self.group(start)? { Item::One } else { item };
                }
                '[' => {
                    self.at += 1;
                    self.class(start)?;
                    item = Item::One;
                }
                '\\' => {
                    self.at += 1;
                    self.escape(start, false)?;
                    item = Item::One;
                }
                _ => {
                    self.at += 1;
                    item = Item::One;
                }
            }
        }
        Ok(())
    }

    fn repeat(&mut self, item: &mut Item, start: usize) -> Result<(), Problem> {
        match item {
            Item::Nothing => return fail("nothing to repeat", start),
            Item::Repeat => return fail("multiple repeat", start),
            Item::One => *item = Item::Repeat,
        }
        let _lazy = self.takes('?') || self.takes('+');
        Ok(())
    }

    /// `{2,3}`; false for a brace that is only a brace.
    fn bounds(&mut self, start: usize) -> Result<bool, Problem> {
        let body: String = self.chars[self.at..].iter().take_while(|it| **it != '}').collect();
        let is_closed = self.chars.get(self.at + body.chars().count()) == Some(&'}');
        let (low, high) = body.split_once(',').unwrap_or((&body, &body));
        let is_number = |it: &str| it.chars().all(|it| it.is_ascii_digit());
        if !is_closed || body.is_empty() || !is_number(low) || !is_number(high) {
            return Ok(false);
        }
        self.at += body.chars().count() + 1;
        match (low.parse::<u64>(), high.parse::<u64>()) {
            (Ok(low), Ok(high)) if low > high => {
                fail("min repeat greater than max repeat", start + 1)
            }
            _ => Ok(true),
        }
    }

    /// Text up to `end`, which is left out.
    fn until(&mut self, end: char, what: &str) -> Result<(String, usize), Problem> {
        let start = self.at;
        let mut found = String::new();
        loop {
            match self.take() {
                None if found.is_empty() => return fail(format!("missing {what}"), start),
                None => return fail(format!("missing {end}, unterminated name"), start),
                Some(it) if it == end => break,
                Some(it) => found.push(it),
            }
        }
        match found.is_empty() {
            true => fail(format!("missing {what}"), start),
            false => Ok((found, start)),
        }
    }

    /// What stands in parentheses; false for what matches nothing.
    fn group(&mut self, start: usize) -> Result<bool, Problem> {
        let mut number = None;
        if self.takes('?') {
            match self.take() {
                None => return fail("unexpected end of pattern", self.at),
                Some('P') => match self.take() {
                    Some('<') => number = Some(self.named()?),
                    Some('=') => {
                        let (name, at) = self.until(')', "group name")?;
                        if !self.names.iter().any(|it| it.0 == name) {
                            return fail(format!("unknown group name '{name}'"), at);
                        }
                        return Ok(true);
                    }
                    None => return fail("unexpected end of pattern", self.at),
                    Some(it) => return fail(format!("unknown extension ?P{it}"), start + 1),
                },
                Some(':' | '>') => {}
                Some('#') => {
                    while let Some(it) = self.take() {
                        if it == ')' {
                            return Ok(false);
                        }
                    }
                    return fail("missing ), unterminated comment", start);
                }
                Some('=' | '!') => {}
                Some('<') => match self.take() {
                    Some('=' | '!') => {}
                    None => return fail("unexpected end of pattern", self.at),
                    Some(it) => return fail(format!("unknown extension ?<{it}"), start + 1),
                },
                Some('(') => self.condition()?,
                Some(it) if "aiLmsux-".contains(it) => {
                    while self.peek().is_some_and(|it| it.is_ascii_alphabetic() || it == '-') {
                        self.at += 1;
                    }
                    match self.take() {
                        Some(')') => return Ok(false),
                        Some(':') => {}
                        None => return fail("missing -, : or )", self.at),
                        Some(_) => return fail("unknown flag", self.at - 1),
                    }
                }
                Some(it) => return fail(format!("unknown extension ?{it}"), start + 1),
            }
        } else {
            self.groups += 1;
            number = Some(self.groups);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return fail("groups are nested too deeply", start);
        }
        self.alternatives()?;
        self.depth -= 1;
        if !self.takes(')') {
            return fail("missing ), unterminated subpattern", start);
        }
        self.closed.extend(number);
        Ok(true)
    }

    fn named(&mut self) -> Result<usize, Problem> {
        let (name, at) = self.until('>', "group name")?;
        let mut letters = name.chars();
        let is_name = letters.next().is_some_and(|it| it.is_alphabetic() || it == '_')
            && letters.all(|it| it.is_alphanumeric() || it == '_');
        if !is_name {
            return fail(format!("bad character in group name '{name}'"), at);
        }
        self.groups += 1;
        if let Some((_, old)) = self.names.iter().find(|it| it.0 == name) {
            let new = self.groups;
            let text =
                format!("redefinition of group name '{name}' as group {new}; was group {old}");
            return fail(text, at);
        }
        self.names.push((name, self.groups));
        Ok(self.groups)
    }

    /// `(?(1)yes|no)`: the group that is asked for.
    fn condition(&mut self) -> Result<(), Problem> {
        let (name, at) = self.until(')', "group name")?;
        let known = match name.parse::<usize>() {
            Ok(number) if number > self.groups => {
                return fail(format!("invalid group reference {number}"), at);
            }
            Ok(_) => true,
            Err(_) => self.names.iter().any(|it| it.0 == name),
        };
        if known { Ok(()) } else { fail(format!("unknown group name '{name}'"), at) }
    }

    /// Characters in brackets.
    fn class(&mut self, start: usize) -> Result<(), Problem> {
        let open = || ("unterminated character set".to_owned(), start);
        self.takes('^');
        let mut is_first = true;
        loop {
            let from = self.at;
            let low = match self.take().ok_or_else(open)? {
                ']' if !is_first => return Ok(()),
                '\\' => self.escape(from, true)?,
                it => Some(it),
            };
            is_first = false;
            if self.peek() != Some('-') {
                continue;
            }
            self.at += 1;
            let at = self.at;
            let high = match self.take().ok_or_else(open)? {
                ']' => return Ok(()),
                '\\' => self.escape(at, true)?,
                it => Some(it),
            };
            if low.is_none() || high.is_none() || low > high {
                let range: String = self.chars[from..self.at].iter().collect();
                return fail(format!("bad character range {range}"), from);
            }
        }
    }

    /// What follows a backslash at `start`; the character it means, `None` for a kind of characters.
    fn escape(&mut self, start: usize, in_class: bool) -> Result<Option<char>, Problem> {
        let Some(it) = self.take() else {
            return fail("bad escape (end of pattern)", start);
        };
        let digits = match it {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        if digits > 0 {
            let body: String = self.chars[self.at..]
                .iter()
                .take_while(|it| it.is_ascii_hexdigit())
                .take(digits)
                .collect();
            self.at += body.len();
            if body.len() < digits {
                return fail(format!("incomplete escape \\{it}{body}"), start);
            }
            return Ok(u32::from_str_radix(&body, 16).ok().and_then(char::from_u32));
        }
        if it == 'N' {
            if !self.takes('{') {
                return fail("missing {", self.at);
            }
            return self.until('}', "character name").map(|_| None);
        }
        if it.is_ascii_digit() && it != '0' && !in_class {
            let more = self.peek().filter(char::is_ascii_digit);
            self.at += usize::from(more.is_some());
            let text: String = std::iter::once(it).chain(more).collect();
            let number = text.parse::<usize>().unwrap_or_default();
            if number > self.groups {
                return fail(format!("invalid group reference {number}"), start + 1);
            }
            return match self.closed.contains(&number) {
                true => Ok(None),
                false => fail("cannot refer to an open group", start),
            };
        }
        let known = if in_class { "abfnrtvdDsSwW" } else { "abfnrtvAbBdDsSwWZ" };
        if it.is_ascii_alphabetic() && !known.contains(it) {
            return fail(format!("bad escape \\{it}"), start);
        }
        Ok(if "dDsSwWAZB".contains(it) { None } else { Some(it) })
    }
}
