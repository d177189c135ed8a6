//! Steps that fuel does not count: what filters and operators read. Fuel is the same for a word and for 64 KiB.

use std::cell::Cell;

use minijinja::value::{Rest, Value, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State};
use serde_json::Value as Json;

use crate::limits;

thread_local! {
    /// The steps of the file whose templates this thread evaluates.
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Begins a file.
pub(super) fn reset() {
    STEPS.set(0);
}

/// Adds steps, and says whether those of the file are within their bound.
pub(super) fn add(steps: u64) -> bool {
    STEPS.set(STEPS.get().saturating_add(steps));
    STEPS.get() <= limits::MAX_TOTAL_FUEL
}

/// Bytes that an operator searches, copies or compares in the time of a step.
const BYTES_OF_OPERATOR: u64 = 16;
/// The same of a filter, which makes a value of each character at worst.
const BYTES_OF_FILTER: u64 = 2;

/// The filters whose work grows with what they are given.
const FILTERS: &str = "capitalize count dictsort e escape format groupby items join length lines list lower max min replace \
reverse shuffle slug sort split string sum title tojson trim unique upper urlencode zip";

/// Counts what an operator reads, or what so many copy.
pub(super) fn read(operand: &Value, copies: Option<u64>) -> Result<(), Error> {
    spend(bytes(operand).saturating_mul(copies.unwrap_or(1)) / BYTES_OF_OPERATOR)
}

fn spend(steps: u64) -> Result<(), Error> {
    if add(steps) { Ok(()) } else { Err(Error::from(ErrorKind::OutOfFuel)) }
}

/// Counts what operators read, by the filter of their operands, and what the filters of `base` do.
pub(super) fn count(env: &mut Environment<'_>, operand: &'static str, base: &Environment<'static>) {
    env.add_filter(operand, |value: Value, copies: Option<u64>| read(&value, copies).map(|()| value));
    env.add_test("in", |state: &State<'_, '_>, value: &Value, list: &Value| {
        read(list, None)?;
        minijinja::tests::is_in(state, value, list)
    });
    for name in FILTERS.split_whitespace() {
        let base = base.clone();
        env.add_filter(name, move |arguments: Rest<ValueOrKwargs>| {
            let arguments = arguments.into_values();
            spend(arguments.iter().map(bytes).sum::<u64>() / BYTES_OF_FILTER)?;
            base.empty_state().apply_filter(name, &arguments)
        });
    }
}

/// The length of a text, or of a list with the texts in it.
fn bytes(value: &Value) -> u64 {
    let text = |value: &Value| value.as_str().map_or(0, str::len) as u64;
    if value.as_str().is_some() {
        return text(value);
    }
    let count = value.len().unwrap_or_default();
    let is_list = matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    let items = value.try_iter().ok().filter(|_| is_list && count <= limits::MAX_CSV_ROWS);
    count as u64 * 8 + items.map_or(0, |items| items.map(|item| text(&item)).sum())
}

/// The approximate size of a value in bytes.
pub(crate) fn size(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(|item| 8 + size(item)).sum(),
        Json::Object(members) => members.iter().map(|(name, value)| name.len() + 8 + size(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 8,
    }
}
