//! The work budget of all templates of a file: steps, and what filters read and make.
//!
//! minijinja bounds the steps of one template. A file renders its templates for up to 100,000 instances, and a filter handles a
//! whole list in one step.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Kwargs, Rest, Value, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State};

use crate::limits;

/// Tables that the filter `csv` remembers.
const MAX_TABLES: usize = 8;
/// Bytes of text that cost as much as a step.
const BYTES_PER_STEP: u64 = 64;

/// Bytes of text that cost as much as a step for a filter, which may look at each character, or change each.
fn bytes_per_step(filter: &str) -> u64 {
    match filter {
        "capitalize" | "lower" | "slug" | "title" | "upper" => 4,
        "count" | "length" | "lines" | "list" | "replace" | "reverse" | "split" | "tojson" | "trim" => 16,
        _ => BYTES_PER_STEP,
    }
}

/// What templates have cost so far. Shared with the filters of the environment.
#[derive(Debug, Default)]
pub(crate) struct TemplateWork {
    /// Steps of all evaluations that have ended.
    total: AtomicU64,
    /// What the filters of the current evaluation have read.
    current: AtomicU64,
    /// Results of the filter `csv`: the text, whether its first row names the columns, the rows.
    tables: Mutex<Vec<(Value, bool, Value)>>,
}

impl TemplateWork {
    /// Ends an evaluation of so many steps, each of which may have read values of this size; whether the budget still holds.
    pub(super) fn finish(&self, steps: u64, size: u64) -> bool {
        let read = self.current.swap(0, Ordering::Relaxed);
        let steps = steps.saturating_mul(1 + size).saturating_add(read);
        self.total.fetch_add(steps, Ordering::Relaxed).saturating_add(steps) <= limits::MAX_TOTAL_FUEL
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.total.load(Ordering::Relaxed) > limits::MAX_TOTAL_FUEL
    }

    /// Charges what a filter reads.
    pub(super) fn charge(&self, steps: u64) -> Result<(), Error> {
        let read = self.current.fetch_add(steps, Ordering::Relaxed).saturating_add(steps);
        if read > limits::MAX_FILTER_STEPS || self.is_exhausted() {
            return Err(Error::new(ErrorKind::OutOfFuel, "the filters read too much"));
        }
        Ok(())
    }

    /// The rows of a table that was read before. Texts are the same if they are the same text in memory, which the entry keeps.
    pub(super) fn table(&self, text: &Value, header: bool) -> Option<Value> {
        let (start, length) = address(text)?;
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = tables.iter().find(|(cached, has_header, _)| {
            *has_header == header && address(cached) == Some((start, length))
        });
        cached.map(|(_, _, rows)| rows.clone())
    }

    pub(super) fn remember_table(&self, text: &Value, header: bool, rows: &Value) {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if tables.len() >= MAX_TABLES {
            tables.remove(0);
        }
        tables.push((text.clone(), header, rows.clone()));
    }
}

/// Where a text is in memory. Short texts are part of their value and have no lasting place.
fn address(text: &Value) -> Option<(usize, usize)> {
    let text = text.as_str().filter(|text| text.len() > 64)?;
    Some((text.as_ptr().addr(), text.len()))
}

/// The steps that a filter needs to read a value.
pub(super) fn size(value: &Value) -> u64 {
    match value.kind() {
        ValueKind::String => value.as_str().map_or(0, str::len) as u64 / BYTES_PER_STEP,
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => value.len().unwrap_or(1_000) as u64,
        _ => 0,
    }
}

/// The steps that it takes to compare a value: all that is in it.
pub(super) fn comparison_size(value: &Value) -> u64 {
    let mut steps = 1 + size(value);
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Map | ValueKind::Iterable) {
        return steps;
    }
    for item in value.try_iter().into_iter().flatten() {
        if steps > limits::MAX_FILTER_STEPS {
            break;
        }
        steps += match value.kind() {
            ValueKind::Map => value.get_item(&item).map_or(0, |member| comparison_size(&member)),
            _ if matches!(item.kind(), ValueKind::String) => size(&item),
            _ => comparison_size(&item),
        };
    }
    steps
}

/// The steps for paths such as `attribute='coat.color'`, which are followed for each item of the list.
fn path_steps(args: &[Value]) -> u64 {
    let (Some(list), Some(last)) = (args.first(), args.last()) else { return 0 };
    let Ok(kwargs) = Kwargs::try_from(last.clone()) else { return 0 };
    let Ok(Some(path)) = kwargs.peek::<Option<&str>>("attribute") else { return 0 };
    size(list).saturating_mul(path.matches(['.', ',']).count() as u64)
}

/// Puts a filter's reading on the account: it is called under its hidden name after its arguments are charged.
pub(super) fn charged(env: &mut Environment<'_>, name: &'static str, work: &Arc<TemplateWork>) {
    let (work, hidden) = (Arc::clone(work), format!("{name} "));
    let per_step = bytes_per_step(name);
    let compares = matches!(name, "max" | "min" | "sort" | "unique");
    env.add_filter(
        name,
        move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| -> Result<Value, Error> {
            let args = args.into_values();
            let text = |value: &Value| value.as_str().map_or(0, str::len) as u64 / per_step;
            let read = args.iter().map(|value| size(value).max(text(value))).sum::<u64>();
            work.charge(1 + read + path_steps(&args))?;
            if compares {
                let size = args.first().map_or(0, comparison_size);
                // A list of n items is sorted in about n log n comparisons, each of which reads two items.
                work.charge(size.saturating_mul(u64::from(size.max(1).ilog2() / 2 + 1)))?;
            }
            let made = state.apply_filter(&hidden, &args)?;
            work.charge(size(&made))?;
            Ok(made)
        },
    );
}

/// Puts a test's reading on the account, in the same way.
pub(super) fn charged_test(env: &mut Environment<'_>, name: &'static str, work: &Arc<TemplateWork>) {
    let (work, hidden) = (Arc::clone(work), format!("{name} "));
    env.add_test(name, move |state: &mut State<'_, '_>, args: Rest<Value>| -> Result<bool, Error> {
        work.charge(args.iter().map(comparison_size).sum())?;
        state.perform_test(&hidden, &args)
    });
}
