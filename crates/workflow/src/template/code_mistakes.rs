//! Mistakes in the code of templates and in their tags, by what minijinja says of them.

use super::error::TemplateError;

/// Maximum length of code that help repeats, in bytes.
const MAX_QUOTED_LEN: usize = 80;
/// The help where nothing more is known.
const FORMS: &str =
    "a template is `{{ name }}`, `{{ name | filter }}` or `{% if name == 'value' %}…{% endif %}`";

impl TemplateError {
    /// The error with what to write instead, if it has no help yet.
    pub(super) fn with_help_for(mut self, text: &str) -> Self {
        if self.help.is_none() {
            self.help = help(&self, text);
        }
        self
    }
}

fn help(error: &TemplateError, text: &str) -> Option<String> {
    match error.code {
        "template-syntax" => Some(syntax(error, text).unwrap_or_else(|| FORMS.to_owned())),
        "template-error" => failure(error, text),
        _ => None,
    }
}

fn syntax(error: &TemplateError, text: &str) -> Option<String> {
    let message = error.message.as_str();
    let tag = enclosed(error, text, "{%", "%}");
    let code = tag.or_else(|| enclosed(error, text, "{{", "}}"));
    let rewritten = |from: &str, to: &str| {
        let code = code.filter(|code| code.contains(from) && code.len() <= MAX_QUOTED_LEN)?;
        let code = code.replacen(from, to, 1);
        Some(if tag.is_some() {
            format!("write `{{% {code} %}}`")
        } else {
            format!("write `{{{{ {code} }}}}`")
        })
    };
    if let Some(open) = message.strip_prefix("unknown statement end") {
        let other = if open == "if" { "for" } else { "if" };
        let is_open = |word: &str| {
            text.matches(&format!("{{% {word} ")).count() > text.matches(&format!("{{% end{word}")).count()
        };
        return Some(if is_open(other) {
            format!("`{{% {other} … %}}` ends with `{{% end{other} %}}`")
        } else {
            format!("remove it, or write `{{% {open} … %}}` before it")
        });
    }
    if message.starts_with("unexpected `=`") {
        return rewritten(" = ", " == ");
    }
    let is_filter_with_colon = code.is_some_and(|code| code.contains('|') && code.contains(": "));
    if message.starts_with("unexpected `:`") || is_filter_with_colon {
        return Some("arguments of a filter are in parentheses: `{{ name | default('x') }}`".to_owned());
    }
    if code.is_some_and(|code| code.starts_with("else if ")) {
        return rewritten("else if ", "elif ");
    }
    if let Some((word, sign)) = [(" eq ", " == "), (" equals ", " == "), (" ne ", " != "), (" is ", " == ")]
        .into_iter()
        .find(|(word, _)| code.is_some_and(|code| code.contains(word)))
    {
        return rewritten(word, sign);
    }
    if message.starts_with("unexpected `}`, expected end of block") {
        return Some("a tag ends with `%}`: `{% if name %}`".to_owned());
    }
    let missing = message.rsplit_once(", expected `")?.1.strip_suffix('`')?;
    matches!(missing, "]" | ")" | "}").then(|| format!("add `{missing}` where it ends"))
}

fn failure(error: &TemplateError, text: &str) -> Option<String> {
    let message = error.message.as_str();
    if message.contains("operator on unsupported types") && message.contains("string") {
        return Some(
            "`~` joins values to text: `{{ name ~ 1 }}`; `| int` converts text to a number".to_owned(),
        );
    }
    if message.contains("invalid float literal") || message.contains("invalid digit") {
        return Some("`| int` and `| float` convert text such as `'5'` only".to_owned());
    }
    if message.contains("argument") {
        let code = enclosed(error, text, "{{", "}}").or_else(|| enclosed(error, text, "{%", "%}"))?;
        let filter = code.rsplit('|').next()?.trim().split('(').next()?.trim();
        return Some(match filter {
            "replace" => "write both texts: `| replace('old', 'new')`".to_owned(),
            filter => format!("give `{filter}` its arguments in parentheses"),
        });
    }
    None
}

/// The code around an error, between these signs.
fn enclosed<'t>(error: &TemplateError, text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let range = error.range.clone()?;
    let start = text.get(..range.start.max(open.len()))?.rfind(open)? + open.len();
    if text.get(start..range.start).is_some_and(|before| before.contains(close)) {
        return None;
    }
    let end = text.get(start..)?.find(close)? + start;
    Some(text.get(start..end)?.trim_matches(['-', '+']).trim())
}
