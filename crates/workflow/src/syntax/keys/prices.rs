//! The keys of a price table and of a price.

use super::{KeySpec, ObjectSpec, Shape};

pub(crate) const VERSION: KeySpec =
    KeySpec::new("version", Shape::Version, "version of the table's format", "version: 1").required();
pub(crate) const CURRENCY: KeySpec =
    KeySpec::new("currency", Shape::Currency, "the currency of all amounts", "currency: USD").required();
pub(crate) const AS_OF: KeySpec =
    KeySpec::new("as_of", Shape::Date, "the day on which the prices were valid", "as_of: 2026-01-31")
        .required();
pub(crate) const SOURCE: KeySpec = KeySpec::new(
    "source",
    Shape::Text,
    "where the figures come from: prices age, and the next reader has to find them",
    "source: the service's price page",
)
.required();
pub(crate) const EXCHANGE: KeySpec = KeySpec::new(
    "exchange",
    Shape::Exchange,
    "the rate at which amounts are added to those of other tables in another currency",
    "exchange: {currency: USD, rate: 0.14}",
);
pub(crate) const PRICES: KeySpec =
    KeySpec::new("prices", Shape::Prices, "what each model costs", "prices: [{model: m, per_second: 0.05}]")
        .required();

pub(crate) const PRICE_TABLE: ObjectSpec = ObjectSpec {
    noun: "price table",
    keys: &[&VERSION, &CURRENCY, &EXCHANGE, &AS_OF, &SOURCE, &PRICES],
    help: "begin with `version: 1`, `currency:`, `as_of:`, `source:` and a list of `prices:`",
    is_open: false,
};

pub(crate) const EXCHANGE_CURRENCY: KeySpec =
    KeySpec::new("currency", Shape::Currency, "the other currency", "currency: USD").required();
pub(crate) const RATE: KeySpec = KeySpec::new(
    "rate",
    Shape::Money,
    "what one unit of the table's currency is in the other one",
    "rate: 0.14",
)
.required();

pub(crate) const EXCHANGE_RATE: ObjectSpec = ObjectSpec {
    noun: "exchange rate",
    keys: &[&EXCHANGE_CURRENCY, &RATE],
    help: "write it as `exchange: {currency: USD, rate: 0.14}`",
    is_open: false,
};

pub(crate) const MODEL: KeySpec =
    KeySpec::new("model", Shape::Text, "the model id", "model: modelb-video-480p").required();
pub(crate) const RESOLUTION: KeySpec =
    KeySpec::new("resolution", Shape::Text, "applies only to tasks of this resolution", "resolution: 720p");
pub(crate) const SOUND: KeySpec = KeySpec::new(
    "sound",
    Shape::Flag,
    "applies only to tasks with (`true`) or without (`false`) audio. Family A renders audio where `generate_audio` is true, family B always",
    "sound: true",
);
pub(crate) const VIDEO_INPUT: KeySpec = KeySpec::new(
    "video_input",
    Shape::Flag,
    "applies only to tasks with (`true`) or without (`false`) a reference video, which the service charges differently",
    "video_input: true",
);
pub(crate) const PER_SECOND: KeySpec =
    KeySpec::new("per_second", Shape::Money, "price per second of video", "per_second: 0.05");
pub(crate) const PER_TASK: KeySpec = KeySpec::new(
    "per_task",
    Shape::Money,
    "price per task; added to `per_second` where both are given",
    "per_task: 0.10",
);

pub(crate) const PRICE: ObjectSpec = ObjectSpec {
    noun: "price",
    keys: &[&MODEL, &RESOLUTION, &SOUND, &VIDEO_INPUT, &PER_SECOND, &PER_TASK],
    help: "write it as `- model: modelb-video-480p` with `per_second:` or `per_task:` below",
    is_open: false,
};
