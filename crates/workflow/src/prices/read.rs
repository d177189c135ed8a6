//! Reads a price table: reports everything that is wrong with it and reads the rest.

use std::collections::BTreeMap;

use contract::Contract;

use super::table::{Price, Prices};
use crate::advice;
use crate::diagnostic::{Diagnostic, Problems, Report, did_you_mean, did_you_mean_model, quoted_list};
use crate::limits;
use crate::source::{Source, Spanned};
use crate::syntax::keys::{KeySpec, prices as keys};
use crate::syntax::{self, Mapping};
use crate::text_file::read_text;
use crate::units::{Money, ParseMoneyError};
use crate::yaml::{Yaml, YamlValue};

/// A price table with the problems that were found in it.
#[derive(Clone, Debug)]
pub struct PricesOutcome {
    /// The table, where the file has no errors and is not empty: comments alone are no table.
    pub prices: Option<Prices>,
    pub report: Report,
}

/// Reads a price table of services with these descriptions. A model that none of them knows is a warning: prices may be ahead of them.
pub fn check(bytes: &[u8], file_name: &str, contracts: &[&Contract]) -> PricesOutcome {
    let mut problems = Problems::default();
    let source = read_text(bytes, file_name, &mut problems);
    let tree = if problems.any() { None } else { advice::read(&source, &mut problems) };
    let tree = tree.filter(|_| !holds_comments_only(source.text()));
    let prices = tree.and_then(|tree| {
        PriceTableReader { source: &source, contracts, problems: &mut problems }.table(&tree)
    });
    let prices = if problems.any() { None } else { prices };
    let (diagnostics, unlisted) = problems.into_sorted();
    PricesOutcome { prices, report: Report { source, diagnostics, unlisted } }
}

/// Whether a table is not filled in yet.
fn holds_comments_only(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| line.starts_with('#'))
}

struct PriceTableReader<'a> {
    source: &'a Source,
    contracts: &'a [&'a Contract],
    problems: &'a mut Problems,
}

impl PriceTableReader<'_> {
    fn table(&mut self, tree: &Yaml) -> Option<Prices> {
        let table = Mapping::read(tree, &keys::PRICE_TABLE, tree.span, self.problems)?;
        if let Some((key, value)) = table.get(&keys::VERSION)
            && value.to_json().as_u64() != Some(1)
        {
            let span = value.span.or(key.span);
            self.problems.push(
                Diagnostic::error("unsupported-version", span, "this version of the table is not supported")
                    .help("write `version: 1`"),
            );
        }
        let currency = self.checked_text(
            &table,
            &keys::CURRENCY,
            is_currency,
            "write the code of the currency (ISO 4217)",
        );
        let as_of = self.checked_text(
            &table,
            &keys::AS_OF,
            is_date,
            "write the year, the month and the day: `as_of: YYYY-MM-DD`",
        );
        let source = self.checked_text(
            &table,
            &keys::SOURCE,
            |text| !text.trim().is_empty(),
            "write `source: the service's price page`",
        );
        let exchange = self.exchange(&table);
        let prices = self.prices(&table);
        Some(Prices {
            exchange,
            currency: currency?,
            as_of: as_of?,
            source: source?,
            lines: prices,
            of_services: BTreeMap::new(),
        })
    }

    fn exchange(&mut self, table: &Mapping<'_>) -> Option<(String, Money)> {
        let (key, value) = table.get(&keys::EXCHANGE)?;
        let rate = Mapping::read(value, &keys::EXCHANGE_RATE, key.span, self.problems)?;
        let currency = self.checked_text(
            &rate,
            &keys::EXCHANGE_CURRENCY,
            is_currency,
            "write the code of the currency (ISO 4217)",
        );
        Some((currency?, self.money(&rate, &keys::RATE)?))
    }

    fn checked_text(
        &mut self,
        table: &Mapping<'_>,
        key: &KeySpec,
        is_valid: impl Fn(&str) -> bool,
        help: &str,
    ) -> Option<String> {
        let (written, value) = table.get(key)?;
        let text = match &value.value {
            YamlValue::Text(text) => text.as_str(),
            // `20260315`, or `2026` alone.
            YamlValue::Number(_) if key.name == keys::AS_OF.name => self.source.slice(value.span),
            _ => return table.text(key, self.problems).map(|text| text.value),
        };
        if value.text().is_some_and(&is_valid) {
            return Some(text.to_owned());
        }
        self.problems.push(
            Diagnostic::error(
                "bad-value",
                value.span.or(written.span),
                format!("`{}` must be {}", key.name, key.shape),
            )
            .help(help),
        );
        None
    }

    fn prices(&mut self, table: &Mapping<'_>) -> Vec<Price> {
        let Some((key, value)) = table.get(&keys::PRICES) else { return Vec::new() };
        let YamlValue::List(items) = &value.value else {
            syntax::report_wrong_type(&keys::PRICES, value, key.span, self.problems);
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
                    Diagnostic::error("two-prices", price.span, "two prices fit the same task equally well")
                        .label("one is here")
                        .other(rival.span, "the other is here")
                        .help("remove one, or make one more specific: the most specific price applies"),
                );
            }
            prices.push(price);
        }
        prices
    }

    fn price(&mut self, item: &Yaml) -> Option<Price> {
        let price = Mapping::read(item, &keys::PRICE, item.span, self.problems)?;
        let model = price.text(&keys::MODEL, self.problems);
        let resolution = self.resolution(&price);
        let sound = price.flag(&keys::SOUND, self.problems);
        let video_input = price.flag(&keys::VIDEO_INPUT, self.problems);
        let per_second = self.money(&price, &keys::PER_SECOND);
        let per_task = self.money(&price, &keys::PER_TASK);
        if price.get(&keys::PER_SECOND).is_none() && price.get(&keys::PER_TASK).is_none() {
            self.problems.push(
                Diagnostic::error("missing-key", price.span(), "this price has no amount")
                    .help("add `per_second: 0.05`, `per_task: 0.10` or both; write `0` if tasks are free"),
            );
        }
        let model = model?;
        if let Some(listed_model) = self.contracts.iter().find_map(|contract| contract.model(&model.value)) {
            if let Some(resolution) = &resolution
                && !listed_model.resolutions().is_empty()
                && !listed_model.resolutions().contains(&resolution.value)
            {
                let listed = || listed_model.resolutions().iter().map(String::as_str);
                let message = format!("`{}` does not make {}", model.value, resolution.value);
                self.problems.push(
                    Diagnostic::warning("unused-price", resolution.span, message).help(
                        did_you_mean(&resolution.value, listed())
                            .unwrap_or_else(|| format!("it makes {}", quoted_list(listed(), 12))),
                    ),
                );
            }
        } else {
            let warning = Diagnostic::warning(
                "unused-price",
                model.span,
                format!("there is no model `{}`, so this prices nothing", model.value),
            );
            let models = self.contracts.iter().flat_map(|contract| contract.models());
            let ids = models.map(|model| model.id.as_str());
            self.problems.push(match did_you_mean_model(&model.value, ids) {
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
            span: price.span(),
        })
    }

    /// A resolution, of which a number lacks the unit.
    fn resolution(&mut self, price: &Mapping<'_>) -> Option<Spanned<String>> {
        let (_, value) = price.get(&keys::RESOLUTION)?;
        let YamlValue::Number(lines) = &value.value else {
            return price.text(&keys::RESOLUTION, self.problems);
        };
        let message = format!("`resolution` must be {}", keys::RESOLUTION.shape);
        self.problems.push(
            Diagnostic::error("wrong-type", value.span, message)
                .label(format!("this is {}", value.kind()))
                .help(format!("write `resolution: {lines}p`")),
        );
        None
    }

    /// An amount, read from the file's own digits: a number has lost them already.
    fn money(&mut self, price: &Mapping<'_>, key: &KeySpec) -> Option<Money> {
        let (written, value) = price.get(key)?;
        let read = match &value.value {
            YamlValue::Number(_) => Money::parse(self.source.slice(value.span)),
            YamlValue::Text(text) => Money::parse(text),
            _ => Err(ParseMoneyError::NotDecimal),
        };
        match read {
            Ok(money) if money <= limits::MAX_PRICE => Some(money),
            Ok(_) => {
                self.problems.push(
                    Diagnostic::error("bad-value", value.span, format!("`{}` is too large", key.name))
                        .help(format!("a price is at most {}", limits::MAX_PRICE)),
                );
                None
            }
            Err(why) => {
                let message = format!("`{}` must be {}", key.name, key.shape);
                self.problems.push(
                    Diagnostic::error("bad-value", value.span.or(written.span), message)
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

/// Whether a text is a date such as `2026-01-31`.
fn is_date(text: &str) -> bool {
    let has_form = text.len() == 10 && matches!(text.as_bytes(), [_, _, _, _, b'-', _, _, b'-', _, _]);
    has_form && text.parse::<jiff::civil::Date>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_date;

    #[test]
    fn is_date_rejects_nonexistent_days() {
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
