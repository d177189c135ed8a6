//! The keys of a price table and of a price.

use super::{Shape, object};

object! { PRICE_TABLE = "prices":
    VERSION = "version": Shape::Version,
    CURRENCY = "currency": Shape::Currency,
    EXCHANGE = "exchange": Shape::Exchange,
    AS_OF = "as_of": Shape::Date,
    SOURCE = "source": Shape::Text,
    PRICES = "prices": Shape::Prices,
}

object! { EXCHANGE_RATE = "exchange":
    EXCHANGE_CURRENCY = "currency": Shape::Currency,
    RATE = "rate": Shape::Money,
}

object! { PRICE = "price":
    MODEL = "model": Shape::Text,
    RESOLUTION = "resolution": Shape::Text,
    SOUND = "sound": Shape::Flag,
    VIDEO_INPUT = "video_input": Shape::Flag,
    PER_SECOND = "per_second": Shape::Money,
    PER_TASK = "per_task": Shape::Money,
}
