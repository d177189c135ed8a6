//! Mistakes in templates that show in their text, once a template has failed: what was probably meant.

use super::error::TemplateError;
use super::scan;

/// Maximum length of a text that help repeats, in bytes.
const MAX_QUOTED_LEN: usize = 80;

/// The error with what was meant, where the text tells.
pub(super) fn with_help(error: TemplateError, text: &str) -> TemplateError {
    let is_expression = !scan::has_template(text);
    match error.code {
        "undefined-name" if is_expression => undefined_name(error, text),
        "template-syntax" if is_expression => in_expression(error, text),
        "template-syntax" => unclosed(error, text),
        "template-error" if error.message.contains("would be written in br") => as_text(error, text),
        "template-error" if error.message.contains("written as `None`") => TemplateError {
            help: Some(
                "write a value where it is `~` or nothing; or here what stands for it: `| default('calm', true)`"
                    .to_owned(),
            ),
            ..error
        },
        _ => error,
    }
}

/// A list or a mapping in the place of text.
fn as_text(mut error: TemplateError, text: &str) -> TemplateError {
    // The range is that of the last filter.
    let code = error.range.clone().and_then(|range| {
        let start = text.get(..range.start)?.rfind("{{")? + 2;
        let end = text.get(range.end..)?.find("}}")? + range.end;
        text.get(start..end)
    });
    let expression = code.map_or("NAME", |code| code.trim_matches('-').trim());
    let is_short = expression.len() <= MAX_QUOTED_LEN;
    let expression = if is_short { expression } else { "NAME" };
    let member = error.message.split('`').nth(1).map(str::to_owned);
    error.help = Some(match member {
        Some(member) if member.chars().all(|c| c.is_alphanumeric() || c == '_') => {
            format!("write the member that is meant: `{{{{ {expression}.{member} }}}}`")
        }
        Some(member) => format!("write the member that is meant: `{{{{ {expression}['{member}'] }}}}`"),
        None if error.message.contains("a mapping") => "write the member that is meant".to_owned(),
        None => format!("write what stands between its items: `{{{{ {expression} | join(', ') }}}}`"),
    });
    error
}

/// `when: look == noir` and `when: yes`.
fn undefined_name(mut error: TemplateError, text: &str) -> TemplateError {
    let truth = match text.trim().to_ascii_lowercase().as_str() {
        "yes" | "on" | "y" => Some("true"),
        "no" | "off" | "n" => Some("false"),
        _ => None,
    };
    if let Some(truth) = truth {
        error.help = Some(format!("write `{truth}`: in YAML 1.2 only `true` and `false` are booleans"));
        return error;
    }
    let Some((position, name)) =
        error.message.split('`').nth(1).and_then(|name| Some((text.find(name)?, name)))
    else {
        return error;
    };
    let before = text[..position].trim_end();
    let is_compared = before.ends_with("==") || before.ends_with("!=");
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if is_compared && is_name && text.len() <= MAX_QUOTED_LEN {
        let (start, end) = (&text[..position], &text[position + name.len()..]);
        error.help = Some(format!("text is written in quotes: `{start}'{name}'{end}`"));
    }
    error
}

/// `when: look = noir`, `look is noir` and `look == 'noir`.
fn in_expression(mut error: TemplateError, text: &str) -> TemplateError {
    let operator = [" = ", " is "].into_iter().find(|operator| {
        let has_message = if *operator == " = " {
            error.message.starts_with("unexpected input")
        } else {
            error.message.starts_with("there is no test")
        };
        has_message && text.matches(operator).count() == 1
    });
    if let Some((left, right)) = operator.and_then(|operator| text.split_once(operator))
        && text.len() <= MAX_QUOTED_LEN
    {
        let (left, right) = (left.trim(), right.trim());
        let is_literal = right.starts_with(['\'', '"'])
            || right.parse::<f64>().is_ok()
            || matches!(right, "true" | "false" | "none");
        let right = if is_literal { right.to_owned() } else { format!("'{right}'") };
        if operator == Some(" = ") {
            "one `=` is no comparison".clone_into(&mut error.message);
        }
        error.help = Some(format!("values are compared with `==`: `{left} == {right}`"));
    } else if error.message.starts_with("unexpected end of string") {
        "this text in quotes is never closed".clone_into(&mut error.message);
        error.help = Some("add the quote at its end".to_owned());
    }
    error
}

/// `{{ k` and `{% if k %}`.
fn unclosed(mut error: TemplateError, text: &str) -> TemplateError {
    let end = error.range.as_ref().map_or(text.len(), |range| range.end.min(text.len()));
    let inside = text.get(..end).and_then(|before| before.rfind("{{")).map(|begin| &text[begin + 2..]);
    let is_open = inside.is_some_and(|inside| {
        inside.find("}}").is_none_or(|close| inside.find("{{").is_some_and(|open| open < close))
    });
    if is_open && error.message.ends_with(", expected end of variable block") {
        let name = inside.map(|inside| inside.split(['}', '{', '%']).next().unwrap_or_default().trim());
        let is_name = |name: &&str| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
        };
        "this `{{` is not closed by `}}`".clone_into(&mut error.message);
        error.help = Some(match name.filter(is_name) {
            Some(name) => format!("write `{{{{ {name} }}}}`"),
            None => "add `}}` behind the name or the expression".to_owned(),
        });
    } else if error.message.contains("unexpected end of input, expected end of block") {
        let open = ["if", "for", "filter", "set"].into_iter().find(|word| {
            let count = |word: &str| text.replace("{%-", "{%").matches(&format!("{{% {word}")).count();
            count(word) > count(&format!("end{word}"))
        });
        if let Some(word) = open {
            error.message = format!("`{{% {word} … %}}` is never closed");
            error.help = Some(format!("add `{{% end{word} %}}` where it ends"));
        }
    }
    error
}
