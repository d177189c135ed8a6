//! The keys of `services.yaml`.

use super::{KeySpec, ObjectSpec, Shape};

const MAX_COUNT: u64 = 100_000;

pub(crate) const SERVICES: KeySpec = KeySpec::new(
    "services",
    Shape::Services,
    "the services, by the names that workflows use",
    "services: {ark: {api: ark}}",
)
.required();
pub(crate) const SERVICES_FILE: ObjectSpec = ObjectSpec {
    noun: "list of services",
    keys: &[&SERVICES],
    help: "write `services:`, and below it each service by its name",
    is_open: false,
};

pub(crate) const API: KeySpec = KeySpec::new(
    "api",
    Shape::Text,
    "the description of its API: one that comes with the program (`runner services list`), or a file; default: the one of the service's own name",
    "api: ark",
);
pub(crate) const BASE_URL: KeySpec = KeySpec::new(
    "base_url",
    Shape::Url,
    "where it is, in place of the address in the description, with everything before the paths there",
    "base_url: https://gateway.example.com/v1",
);
pub(crate) const KEY: KeySpec = KeySpec::new(
    "key",
    Shape::Name,
    "the environment variable that has the API key; default: that of the description",
    "key: ARK_API_KEY",
);
pub(crate) const PRICES: KeySpec = KeySpec::new(
    "prices",
    Shape::FileName,
    "its price table, from this file's folder; default: `prices.yaml` beside the workflow",
    "prices: ark-prices.yaml",
);
pub(crate) const LIMITS: KeySpec = KeySpec::new(
    "limits",
    Shape::Limits,
    "limits of the account; the flags of `runner run` override them",
    "limits: {jobs: 10}",
);
pub(crate) const MODELS: KeySpec = KeySpec::new(
    "models",
    Shape::Models,
    "models that the description does not list, such as endpoints of the account: each is like one that it has",
    "models: {ep-20260101-x: {like: doubao-seedance-2-0-260128}}",
);
pub(crate) const ALSO: KeySpec = KeySpec::new(
    "also",
    Shape::FileNames,
    "other names, and addresses, under which work of this service is on record: it is not paid for again",
    "also: [old-name]",
);
pub(crate) const ECHO: KeySpec = KeySpec::new(
    "echo",
    Shape::Flag,
    "whether each request says which attempt it is, in a field that the service gives back: a submission whose answer is lost is then found in its list of tasks",
    "echo: true",
);
pub(crate) const SERVICE: ObjectSpec = ObjectSpec {
    noun: "service",
    keys: &[&API, &BASE_URL, &KEY, &PRICES, &LIMITS, &MODELS, &ALSO, &ECHO],
    help: "write `{api: ark, key: ARK_API_KEY}`",
    is_open: false,
};

pub(crate) const LIKE: KeySpec = KeySpec::new(
    "like",
    Shape::Text,
    "the model of the description whose fields it takes",
    "like: doubao-seedance-2-0-260128",
)
.required();
pub(crate) const MODEL: ObjectSpec = ObjectSpec {
    noun: "model",
    keys: &[&LIKE],
    help: "write `{like: doubao-seedance-2-0-260128}`",
    is_open: false,
};

pub(crate) const JOBS: KeySpec =
    KeySpec::new("jobs", Shape::Count { max: MAX_COUNT }, "tasks in flight", "jobs: 10");
pub(crate) const SUBMITS: KeySpec = KeySpec::new(
    "max_submits_per_minute",
    Shape::Count { max: MAX_COUNT },
    "submissions in any minute",
    "max_submits_per_minute: 60",
);
pub(crate) const POLLS: KeySpec = KeySpec::new(
    "max_polls_per_second",
    Shape::Count { max: MAX_COUNT },
    "polls in any second, over all tasks",
    "max_polls_per_second: 2",
);
pub(crate) const DOWNLOADS: KeySpec = KeySpec::new(
    "max_downloads",
    Shape::Count { max: MAX_COUNT },
    "concurrent downloads",
    "max_downloads: 3",
);
pub(crate) const LIMIT: ObjectSpec = ObjectSpec {
    noun: "list of limits",
    keys: &[&JOBS, &SUBMITS, &POLLS, &DOWNLOADS],
    help: "write `{jobs: 10}`",
    is_open: false,
};
