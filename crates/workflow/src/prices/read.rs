//! Reads the table of prices, reporting everything that is wrong with it at its place.

use contract::Contract;

use super::table::{Price, Prices};
use super::{Money, ParseMoneyError};
use crate::diagnostic::{Diagnostic, Problems, Report, did_you_mean, quoted_list};
use crate::limits;
use crate::load::read_text;
use crate::source::{Source, Span};
use crate::syntax;
use crate::yaml::{self, Key, Yaml, YamlValue};

const KEYS: [&str; 5] = ["version", "currency", "as_of", "source", "prices"];
const PRICE_KEYS: [&str; 6] = ["model", "resolution", "sound", "video_input", "per_second", "per_task"];

/// What came of a table of prices.
#[derive(Clone, Debug)]
pub struct CheckedPrices {
    /// The table, where the file has no errors.
    pub prices: Option<Prices>,
    /// Errors and warnings.
    pub report: Report,
}

/// Reads a table of prices. What it prices that the contract does not know is a warning: prices may be ahead of it.
#[must_use]
pub fn check(bytes: &[u8], file_name: &str, contract: &Contract) -> CheckedPrices {
    let mut problems = Problems::default();
    let source = read_text(bytes, file_name, &mut problems);
    let tree = if problems.any() { None } else { yaml::read(&source, &mut problems) };
    let prices =
        tree.and_then(|tree| Reader { source: &source, contract, problems: &mut problems }.table(&tree));
    let prices = if problems.any() { None } else { prices };
    let (diagnostics, unlisted) = problems.into_sorted();
    CheckedPrices { prices, report: Report { source, diagnostics, unlisted } }
}

struct Reader<'a> {
    source: &'a Source,
    contract: &'a Contract,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    fn table(&mut self, tree: &Yaml) -> Option<Prices> {
        let YamlValue::Map(entries) = &tree.value else {
            self.problems.push(
                Diagnostic::error("wrong-type", tree.span, "a table of prices is a map")
                    .label(format!("this is {}", tree.kind()))
                    .help(
                        "begin with `version: 1`, `currency:`, `as_of:`, `source:` and a list of `prices:`",
                    ),
            );
            return None;
        };
        self.unknown_keys(entries, &KEYS, "a table of prices");
        let start = entries.first().map_or(Span::default(), |(key, _)| key.span);
        for word in KEYS {
            if tree.get(word).is_none() {
                self.problems.push(
                    Diagnostic::error("missing-key", start, format!("`{word}` is missing")).help(match word {
                        "version" => "begin the file with `version: 1`",
                        "currency" => "write the currency that all amounts are in, such as `currency: USD`",
                        "as_of" => "write the day on which the prices were so, such as `as_of: 2026-01-31`",
                        "source" => "write where the figures come from: they age, and the next reader has to find them",
                        _ => "list what each model costs",
                    }),
                );
            }
        }
        if let Some((key, value)) = tree.get("version")
            && value.to_json().as_u64() != Some(1)
        {
            let place = value.span.or(key.span);
            self.problems.push(
                Diagnostic::error("unsupported-version", place, "this version of the table is not known")
                    .help("write `version: 1`"),
            );
        }
        let currency = self.checked_text(tree, "currency", is_currency, "three capital letters, such as USD");
        let as_of = self.checked_text(tree, "as_of", is_date, "a day, written as 2026-01-31");
        let source =
            self.checked_text(tree, "source", |text| !text.trim().is_empty(), "text that says something");
        let prices = self.prices(tree);
        Some(Prices { currency: currency?, as_of: as_of?, source: source?, lines: prices })
    }

    fn unknown_keys(&mut self, entries: &[(Key, Yaml)], words: &[&'static str], what: &str) {
        for (key, _) in entries.iter().filter(|(key, _)| !words.contains(&key.value.as_str())) {
            let message = format!("`{}` is not a key of {what}", key.value);
            let help = did_you_mean(&key.value, words.iter().copied())
                .unwrap_or_else(|| format!("the keys here are {}", quoted_list(words.iter().copied(), 10)));
            self.problems.push(Diagnostic::error("unknown-key", key.span, message).help(help));
        }
    }

    fn checked_text(
        &mut self,
        tree: &Yaml,
        word: &str,
        right: impl Fn(&str) -> bool,
        wanted: &str,
    ) -> Option<String> {
        let (key, value) = tree.get(word)?;
        let text = syntax::expect_text(value, word, key.span, self.problems)?;
        if right(&text.value) {
            return Some(text.value);
        }
        self.problems.error("bad-value", text.span.or(key.span), format!("`{word}` is {wanted}"));
        None
    }

    fn prices(&mut self, tree: &Yaml) -> Vec<Price> {
        let Some((key, value)) = tree.get("prices") else { return Vec::new() };
        let YamlValue::List(items) = &value.value else {
            self.problems.push(
                Diagnostic::error("wrong-type", value.span.or(key.span), "`prices` is a list")
                    .label(format!("this is {}", value.kind())),
            );
            return Vec::new();
        };
        if items.len() > limits::MAX_PRICES {
            let message = format!("a table has at most {} prices", limits::MAX_PRICES);
            self.problems.error("too-many", key.span, message);
            return Vec::new();
        }
        let mut prices: Vec<Price> = Vec::with_capacity(items.len());
        for item in items {
            let Some(price) = self.price(item) else { continue };
            let rival = prices
                .iter()
                .find(|other| other.conditions() == price.conditions() && other.overlaps(&price));
            if let Some(rival) = rival {
                self.problems.push(
                    Diagnostic::error("two-prices", price.place, "two prices fit the same task equally well")
                        .label("one is here")
                        .other(rival.place, "the other is here")
                        .help(
                            "remove one, or say more exactly what each is for: the one that says more counts",
                        ),
                );
            }
            prices.push(price);
        }
        prices
    }

    fn price(&mut self, item: &Yaml) -> Option<Price> {
        let YamlValue::Map(entries) = &item.value else {
            self.problems.push(
                Diagnostic::error("wrong-type", item.span, "a price is a map")
                    .label(format!("this is {}", item.kind()))
                    .help("write it as `- model: …` with `per_second:` or `per_task:` below"),
            );
            return None;
        };
        self.unknown_keys(entries, &PRICE_KEYS, "a price");
        let place = entries.first().map_or(item.span, |(key, _)| key.span);
        let Some((key, model)) = item.get("model") else {
            self.problems.error("missing-key", place, "this price has no `model`");
            return None;
        };
        let model = syntax::expect_text(model, "model", key.span, self.problems);
        let resolution = item
            .get("resolution")
            .and_then(|(key, value)| syntax::expect_text(value, "resolution", key.span, self.problems));
        let (sound, video_input) = (self.truth(item, "sound"), self.truth(item, "video_input"));
        let (per_second, per_task) = (self.money(item, "per_second"), self.money(item, "per_task"));
        if item.get("per_second").is_none() && item.get("per_task").is_none() {
            self.problems.push(
                Diagnostic::error("missing-key", place, "this price has no amount")
                    .help("write `per_second:`, `per_task:` or both; what is free costs `0`"),
            );
        }
        let model = model?;
        if let Some(known) = self.contract.model(&model.value) {
            if let Some(resolution) = &resolution
                && !known.resolutions().contains(&resolution.value)
            {
                self.problems.push(Diagnostic::warning(
                    "unused-price",
                    resolution.span,
                    format!("`{}` does not make {}", model.value, resolution.value),
                ));
            }
        } else {
            let warning = Diagnostic::warning(
                "unused-price",
                model.span,
                format!("there is no model `{}`, so this prices nothing", model.value),
            );
            let ids = self.contract.models().iter().map(|model| model.id.as_str());
            self.problems.push(match did_you_mean(&model.value, ids) {
                Some(help) => warning.help(help),
                None => warning,
            });
        }
        Some(Price {
            model: model.value,
            resolution: resolution.map(|resolution| resolution.value),
            sound,
            video_input,
            per_second: per_second.unwrap_or_default(),
            per_task: per_task.unwrap_or_default(),
            place,
        })
    }

    fn truth(&mut self, item: &Yaml, word: &str) -> Option<bool> {
        let (key, value) = item.get(word)?;
        if let YamlValue::Bool(truth) = &value.value {
            return Some(*truth);
        }
        self.problems.push(
            Diagnostic::error("wrong-type", value.span.or(key.span), format!("`{word}` is true or false"))
                .label(format!("this is {}", value.kind())),
        );
        None
    }

    /// An amount, read from the file's own digits: a number has lost them already.
    fn money(&mut self, item: &Yaml, word: &str) -> Option<Money> {
        let (key, value) = item.get(word)?;
        let read = match &value.value {
            YamlValue::Number(_) => Money::parse(self.source.slice(value.span)),
            YamlValue::Text(text) => Money::parse(text),
            _ => Err(ParseMoneyError::NotDecimal),
        };
        match read {
            Ok(money) if money <= limits::MAX_PRICE => Some(money),
            Ok(_) => {
                self.problems.push(
                    Diagnostic::error("bad-value", value.span, format!("`{word}` is far too much"))
                        .help(format!("the most that a price may be is {}", limits::MAX_PRICE)),
                );
                None
            }
            Err(why) => {
                self.problems.push(
                    Diagnostic::error(
                        "bad-value",
                        value.span.or(key.span),
                        format!("`{word}` is an amount of money"),
                    )
                    .help(why.to_string()),
                );
                None
            }
        }
    }
}

fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// `YYYY-MM-DD`, with a month and a day that exist.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let number = |text: &str, length: usize| {
        (text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let year: u32 = year;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days: u32 = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_exist_or_are_refused() {
        for right in ["2026-01-31", "2024-02-29", "2000-02-29"] {
            assert!(is_date(right), "{right}");
        }
        for wrong in
            ["2026-02-29", "1900-02-29", "2026-13-01", "2026-1-1", "26-01-01", "2026-01-00", "today", ""]
        {
            assert!(!is_date(wrong), "{wrong}");
        }
    }
}
