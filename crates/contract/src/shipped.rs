//! The descriptions that the program brings along (`services/`).

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};

use serde_json::{Map, Value};

use crate::Contract;

/// The description of the embedded service, openapi.yaml, among them.
const VIDEOS_V1: &str = "videos-v1";

/// All of services/ as JSON, which the build script has checked.
static SERVICES: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/services.json"))).unwrap_or_default()
});

/// Those that were asked for.
static READ: LazyLock<BTreeMap<&'static str, OnceLock<Option<Arc<Contract>>>>> =
    LazyLock::new(|| SERVICES.keys().map(|name| (name.as_str(), OnceLock::new())).collect());

impl Contract {
    /// The names of the descriptions that the program brings along.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        SERVICES.keys().map(String::as_str).chain([VIDEOS_V1])
    }

    /// A description that the program brings along.
    pub fn shipped(name: &str) -> Option<&'static Arc<Self>> {
        if name == VIDEOS_V1 {
            return Some(Self::embedded());
        }
        let read = || Self::read(SERVICES.get(name)?.clone()).ok().map(Arc::new);
        READ.get(name)?.get_or_init(read).as_ref()
    }
}
