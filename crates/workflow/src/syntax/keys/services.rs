//! The keys of `services.yaml`.

use super::{Shape, object};

const MAX_COUNT: u64 = 100_000;

object! { SERVICES_FILE = "services":
    SERVICES = "services": Shape::Services,
}

object! { SERVICE = "service":
    API = "api": Shape::Text,
    BASE_URL = "base_url": Shape::Url,
    KEY = "key": Shape::Name,
    PRICES = "prices": Shape::FileName,
    LIMITS = "limits": Shape::Limits,
    MODELS = "models": Shape::Models,
    ALSO = "also": Shape::FileNames,
    ECHO = "echo": Shape::Flag,
}

object! { MODEL = "model":
    LIKE = "like": Shape::Text,
}

object! { LIMIT = "limit":
    JOBS = "jobs": Shape::Count { max: MAX_COUNT },
    SUBMITS = "max_submits_per_minute": Shape::Count { max: MAX_COUNT },
    POLLS = "max_polls_per_second": Shape::Count { max: MAX_COUNT },
    DOWNLOADS = "max_downloads": Shape::Count { max: MAX_COUNT },
}
