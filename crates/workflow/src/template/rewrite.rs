//! Makes calls of the operators that minijinja has its own mind about. Its comparisons order values of different kinds by their kind, and it
//! knows no numbers that keep their text: `a < b` becomes `compare__(0, a, '<', b)`, and an operand of arithmetic `a | number__`. What
//! may be a long text, as in `a ~ b`, `a in b` and `a[1:]`, becomes `a | operand__`, which counts it.

use std::ops::Range;

use super::scan::{Region, after_quoted, regions};

/// The function that compares: the number of the comparison, then operands with operators between them.
pub(super) const COMPARE: &str = "compare__";
/// The filter that makes a number of one that keeps its text, and leaves everything else, but for `*`: its operands have the argument 0.
pub(super) const NUMBER: &str = "number__";
const FACTOR: &str = "number__(0)";
/// The filter that counts what an operator reads.
pub(super) const OPERAND: &str = "operand__";

/// Operators from which on it matters that each copies the text before it.
const MANY_COPIES: usize = 8;

/// Filters of minijinja that take numbers only.
const NUMBER_FILTERS: [&str; 3] = ["abs", "int", "round"];

/// Where the parts of rewritten code are in the text of the template.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    /// Where the code begins.
    pub(super) start: usize,
    edits: Vec<Edit>,
    comparisons: Vec<Vec<Range<usize>>>,
}

#[derive(Clone, Debug)]
struct Edit {
    at: usize,
    removed: usize,
    inserted: String,
}

impl Positions {
    pub(super) const fn at(start: usize) -> Self {
        Self { start, edits: Vec::new(), comparisons: Vec::new() }
    }

    /// The range in the text of a range in the rewritten code.
    pub(super) fn in_text(&self, range: Range<usize>) -> Range<usize> {
        self.start + self.original(range.start)..self.start + self.original(range.end)
    }

    fn original(&self, position: usize) -> usize {
        let (mut written, mut read) = (0, 0);
        for edit in &self.edits {
            let next = written + (edit.at - read);
            if position <= next {
                break;
            }
            (written, read) = (next + edit.inserted.len(), edit.at + edit.removed);
            if position < written {
                return edit.at;
            }
        }
        read + (position - written)
    }

    /// The ranges in the text of the operands of a comparison.
    pub(super) fn operands(&self, comparison: usize) -> Vec<Range<usize>> {
        let ranges = self.comparisons.get(comparison).into_iter().flatten();
        ranges.map(|range| self.start + range.start..self.start + range.end).collect()
    }
}

/// An expression that begins at `start` in its text, rewritten.
pub(super) fn expression(code: &str, start: usize, is_condition: bool) -> (String, Positions) {
    let mut rewriter = Rewriter::new(code, start);
    rewriter.code(0..code.len(), is_condition, if is_condition { Side::Truth } else { Side::Plain });
    rewriter.finish()
}

/// A text with templates, rewritten.
pub(super) fn text(text: &str) -> (String, Positions) {
    let mut rewriter = Rewriter::new(text, 0);
    for Region { outer, is_expression, .. } in regions(text) {
        let written = &text[outer.clone()];
        let Some(code) = written.strip_suffix(if is_expression { "}}" } else { "%}" }) else { continue };
        let start = if written[2..].starts_with(['-', '+']) { 3 } else { 2 };
        let end = code.len() - usize::from(code.ends_with(['-', '+']));
        rewriter.code(outer.start + start..outer.start + end.max(start), !is_expression, Side::Plain);
    }
    rewriter.finish()
}

/// What is on a side of an operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Side {
    /// A bracket, a comma, a comparison or anything else that takes a value as it is.
    #[default]
    Plain,
    /// `and`, `if` or another word that asks whether it is true.
    Truth,
    Arithmetic,
    /// `*`, which multiplies numbers only.
    Product,
    /// `~` or `in`, which read a text.
    Text,
}

/// The code within a pair of brackets.
#[derive(Debug, Default)]
struct Level {
    /// Where the operand of a comparison begins.
    operand: Option<usize>,
    /// Where the operand of arithmetic begins, which is a part of it.
    part: Option<usize>,
    left: Side,
    /// Where the last token ends.
    end: usize,
    comparison: Option<usize>,
    /// Whether `is` was before: `not` and `in` belong to the test.
    is_test: bool,
}

struct Rewriter<'t> {
    text: &'t str,
    positions: Positions,
    levels: Vec<Level>,
    is_condition: bool,
}

impl<'t> Rewriter<'t> {
    fn new(text: &'t str, start: usize) -> Self {
        Self { text, positions: Positions::at(start), levels: Vec::new(), is_condition: false }
    }

    fn finish(mut self) -> (String, Positions) {
        // A comparison begins before the bracket of its operand.
        self.positions.edits.sort_by_key(|edit| (edit.at, edit.inserted == "("));
        let (mut out, mut read) = (String::new(), 0);
        for edit in &self.positions.edits {
            out.push_str(&self.text[read..edit.at]);
            out.push_str(&edit.inserted);
            read = edit.at + edit.removed;
        }
        out.push_str(&self.text[read..]);
        (out, self.positions)
    }

    fn edit(&mut self, at: usize, removed: usize, inserted: String) {
        self.positions.edits.push(Edit { at, removed, inserted });
    }

    fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// Rewrites the code in a range; of a condition, what is asked for truth is a number where it is one.
    fn code(&mut self, range: Range<usize>, is_condition: bool, left: Side) {
        self.levels.clear();
        self.is_condition = is_condition;
        self.level().left = left;
        let (mut previous, mut position) = ("", range.start);
        while let Some(token) = next_token(self.text, position..range.end) {
            position = token.end;
            let text = &self.text[token.clone()];
            self.token(text, token, previous);
            previous = text;
        }
        self.end_part(Side::Truth);
        while !self.levels.is_empty() {
            self.end_operand();
            self.levels.pop();
        }
    }

    fn token(&mut self, text: &str, token: Range<usize>, previous: &str) {
        let is_test = std::mem::take(&mut self.level().is_test);
        match text {
            "(" | "[" | "{" => {
                self.slice(text, &token);
                self.value(&token);
                self.levels.push(Level::default());
            }
            ")" | "]" | "}" => {
                self.end_part(Side::Plain);
                self.end_operand();
                if self.levels.len() > 1 {
                    self.levels.pop();
                }
                self.level().end = token.end;
            }
            "<" | "<=" | ">" | ">=" | "==" | "!=" => {
                self.end_part(Side::Plain);
                self.compare(text, token);
            }
            "+" | "-" | "*" | "**" | "/" | "//" | "%" | "~" => {
                if self.level().part.is_none() {
                    return self.value(&token);
                }
                let side = match text {
                    "~" => Side::Text,
                    "*" => Side::Product,
                    _ => Side::Arithmetic,
                };
                self.end_part(side);
                self.level().left = side;
            }
            "," | ":" | "=" => self.separate(Side::Plain),
            _ if previous == "." => self.value(&token),
            "not" | "in" if is_test => self.level().is_test = true,
            "and" | "or" | "if" | "elif" | "not" => self.separate(Side::Truth),
            "else" | "in" | "for" => {
                self.separate(Side::Plain);
                self.level().left = if text == "in" { Side::Text } else { Side::Plain };
            }
            "is" if self.level().part.is_some() => {
                self.filter(NUMBER);
                self.level().is_test = true;
            }
            _ => {
                if previous == "|" && NUMBER_FILTERS.contains(&text) {
                    let bar = self.text[..token.start].rfind('|').unwrap_or(token.start);
                    self.edit(bar, 0, format!("|{NUMBER}"));
                }
                self.value(&token);
            }
        }
    }

    /// A token of an operand.
    fn value(&mut self, token: &Range<usize>) {
        let level = self.level();
        level.operand.get_or_insert(token.start);
        level.part.get_or_insert(token.start);
        level.end = token.end;
    }

    /// Ends what a word or a comma ends.
    fn separate(&mut self, side: Side) {
        self.end_part(side);
        self.end_operand();
        self.level().left = side;
    }

    /// Counts what is sliced, if this bracket is one of a slice.
    fn slice(&mut self, bracket: &str, token: &Range<usize>) {
        let code = self.text[token.start..].split(']').next().unwrap_or_default();
        if let Some(start) = self.level().part.filter(|_| bracket == "[" && code.contains(':')) {
            self.edit(start, 0, "(".to_owned());
            self.edit(token.start, 0, format!("|{OPERAND})"));
        }
    }

    /// Applies a filter to the operand that ends here.
    fn filter(&mut self, filter: &str) {
        let Some(start) = self.level().part else { return };
        if !self.text[start..].starts_with(|c: char| c.is_ascii_digit()) {
            let end = self.level().end;
            // It is copied by each of them.
            let copies = self.text[end..].matches(['~', '+']).count();
            let is_copied = filter != FACTOR && copies >= MANY_COPIES;
            let copies = if is_copied { format!("({copies})") } else { String::new() };
            self.edit(end, 0, format!("|{filter}{copies}"));
        }
    }

    fn end_part(&mut self, right: Side) {
        let is_outer = self.levels.len() == 1;
        let is_condition = self.is_condition && is_outer;
        let level = self.level();
        let is_truth = is_condition && level.left == Side::Truth && right == Side::Truth;
        let sides = [level.left, right];
        if sides.contains(&Side::Product) {
            self.filter(FACTOR);
        } else if sides.contains(&Side::Arithmetic) || (is_truth && level.comparison.is_none()) {
            self.filter(NUMBER);
        } else if sides.contains(&Side::Text) {
            self.filter(OPERAND);
        }
        let level = self.level();
        (level.part, level.left) = (None, Side::Plain);
    }

    fn compare(&mut self, operator: &str, token: Range<usize>) {
        let next = self.positions.comparisons.len();
        let level = self.level();
        let Some(start) = level.operand.take() else { return };
        let operand = start..level.end;
        let index = *level.comparison.get_or_insert(next);
        if index == next {
            self.positions.comparisons.push(Vec::new());
            self.edit(start, 0, format!("{COMPARE}({index}, "));
        }
        self.positions.comparisons[index].push(operand);
        self.edit(token.start, token.len(), format!(", '{operator}', "));
    }

    fn end_operand(&mut self) {
        let level = self.level();
        let (operand, end) = (level.operand.take(), level.end);
        if let (Some(index), Some(start)) = (level.comparison.take(), operand) {
            self.positions.comparisons[index].push(start..end);
            self.edit(end, 0, ")".to_owned());
        }
    }
}

/// The next token in a range: text in quotes, a word or number, or an operator.
fn next_token(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let code = &text[range.clone()];
    let start = range.start + (code.len() - code.trim_start().len());
    let rest = &text[start..range.end];
    let first = rest.chars().next()?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let len = match first {
        '\'' | '"' => after_quoted(rest.as_bytes(), 0),
        '0'..='9' => {
            let mut previous = '0';
            let is_number = |c: char| {
                let is_exponent = matches!(std::mem::replace(&mut previous, c), 'e' | 'E');
                is_word(c) || c == '.' || (is_exponent && matches!(c, '-' | '+'))
            };
            rest.len() - rest.trim_start_matches(is_number).len()
        }
        c if is_word(c) => rest.len() - rest.trim_start_matches(is_word).len(),
        _ if ["<=", ">=", "==", "!=", "**", "//"].iter().any(|operator| rest.starts_with(operator)) => 2,
        c => c.len_utf8(),
    };
    Some(start..(start + len).min(range.end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn comparisons_and_operands_are_rewritten() {
        for (code, expected) in [
            ("a < b", "compare__(0, a , '<',  b)"),
            ("a+1<b*2", "compare__(0, a|number__+1, '<', b|number__(0)*2)"),
            ("1 < p.x <= 5 and q", "compare__(0, 1 , '<',  p.x , '<=',  5) and q"),
            ("not a == 'x < y'", "not compare__(0, a , '==',  'x < y')"),
            ("f(a > b, k=c != d)", "f(compare__(0, a , '>',  b), k=compare__(1, c , '!=',  d))"),
            ("x if (a|int) >= -1e-3 else y", "x if compare__(0, (a|number__|int) , '>=',  -1e-3) else y"),
            ("p.age is not none and p.in in q", "p.age|number__ is not none and p.in in q|operand__"),
            ("a ~ b", "a|operand__ ~ b|operand__"),
            ("a[1:] if b[0] else c", "(a|operand__)[1:] if b[0] else c"),
            (
                "p.a[1:][:2] == b[:1]",
                "compare__(0, ((p.a|operand__)[1:]|operand__)[:2] , '==',  (b|operand__)[:1])",
            ),
        ] {
            assert_eq!(expression(code, 0, false).0, expected);
        }
        let (code, positions) = text("x {%- if a < bb -%} {{ n }} {% endif %} {{ -k * m }}");
        assert_eq!(
            code,
            "x {%- if compare__(0, a , '<',  bb) -%} {{ n }} {% endif %} {{ -k|number__(0) * m|number__(0) }}"
        );
        let original = |part: &str| code.find(part).map(|at| positions.in_text(at..at + part.len()));
        assert_eq!(original("bb"), Some(13..15));
        assert_eq!(original("m|"), Some(48..49));
        assert_eq!(positions.operands(0), [9..10, 13..15]);
        assert_eq!(expression("a and not b", 0, true).0, "a|number__ and not b|number__");
    }

    proptest! {
        #[test]
        fn any_text_is_rewritten_and_mapped_back(code in "([a-e1.(){}\\[\\]|<>=!~+*/%,:'\"é -]|is |not |in |and |if )*") {
            for (rewritten, positions) in [expression(&code, 0, true), text(&code), text(&format!("{{{{{code}}}}}"))] {
                let mapped = positions.in_text(0..rewritten.len());
                prop_assert!(mapped.start <= mapped.end && mapped.end <= code.len() + 4);
            }
        }

        #[test]
        fn right_code_stays_right_and_means_the_same(code in right_code()) {
            let env = crate::template::environment();
            let (rewritten, _) = expression(&code, 0, false);
            let values = minijinja::context! { a => 1, b => 2, c => 3 };
            let plain = env.compile_expression(&code).and_then(|code| code.eval(&values));
            let ours = env.compile_expression(&rewritten).and_then(|code| code.eval(&values));
            match (plain, ours) {
                (Ok(plain), Ok(ours)) => prop_assert_eq!(plain, ours, "{}", rewritten),
                // Values of different kinds are refused, and all operands of a chain are evaluated.
                (Ok(_), Err(error)) => {
                    let text = error.to_string();
                    prop_assert!(["kinds", "unsupported", "multiplies"].iter().any(|word| text.contains(word)), "{}: {}", rewritten, text);
                }
                (Err(_), _) => {}
            }
        }
    }

    fn right_code() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![Just("a"), Just("b"), Just("c"), Just("7"), Just("'x < y'"), Just("1e-3")];
        leaf.prop_map(str::to_owned).prop_recursive(5, 40, 3, |inner| {
            let operator =
                prop_oneof!["(<|>|<=|>=|==|!=)", "[-+*~]", " (and|or) ", Just("// 2 +".to_owned())];
            prop_oneof![
                (inner.clone(), operator, inner.clone()).prop_map(|(a, by, b)| format!("{a} {by} {b}")),
                inner.clone().prop_map(|a| format!("({a})")),
                inner.clone().prop_map(|a| format!("(not {a})")),
                inner.clone().prop_map(|a| format!("({a}) is not number")),
                inner.clone().prop_map(|a| format!("([{a}, 1][1:] == [1][:1])")),
                inner.clone().prop_map(|a| format!("('xay'[1:2] in ('a' ~ {a}))")),
                inner.clone().prop_map(|a| format!("{{'k': {a}}}.k|default({a})")),
                (inner.clone(), inner.clone(), inner)
                    .prop_map(|(a, b, c)| format!("[{a}, {b} if {c} else {a}][1]")),
            ]
        })
    }
}
