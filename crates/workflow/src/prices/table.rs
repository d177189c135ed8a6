//! The price table, and the price of one task by it.

use std::collections::BTreeMap;
use std::fmt;

use super::{Interval, PriceInputs};
use crate::source::Span;
use crate::units::{Money, VideoDuration};

/// A dated price table: what a service charged for a task on a certain day, as far as its user knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices {
    pub(super) currency: String,
    /// Another currency, and what one unit of the table's is in it.
    pub(super) exchange: Option<(String, Money)>,
    pub(super) as_of: String,
    pub(super) source: String,
    pub(super) lines: Vec<Price>,
    /// Tables of services that have their own.
    pub(super) of_services: BTreeMap<String, Self>,
}

/// An entry of the table: conditions, and the price. An absent condition matches everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Price {
    pub(super) model: String,
    pub(super) resolution: Option<String>,
    pub(super) sound: Option<bool>,
    pub(super) video_input: Option<bool>,
    pub(super) per_second: Money,
    pub(super) per_task: Money,
    /// The line's first key.
    pub(super) span: Span,
}

/// A task without a matching entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPrice {
    model: String,
    resolution: Option<String>,
    sound: bool,
    video_input: bool,
}

impl fmt::Display for MissingPrice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no price for `{}`", self.model)?;
        if let Some(resolution) = &self.resolution {
            write!(f, " at {resolution}")?;
        }
        f.write_str(if self.sound { " with sound" } else { " without sound" })?;
        if self.video_input { f.write_str(" from a reference video") } else { Ok(()) }
    }
}

impl Price {
    fn matches(&self, inputs: &PriceInputs, resolution: Option<&str>) -> bool {
        self.model == inputs.model
            && self.resolution.as_deref().is_none_or(|required| Some(required) == resolution)
            && self.sound.is_none_or(|required| required == inputs.sound)
            && self.video_input.is_none_or(|required| required == inputs.video_input)
    }

    /// The number of conditions besides the model. Of the matching entries the one with the most conditions applies.
    pub(super) fn conditions(&self) -> usize {
        usize::from(self.resolution.is_some())
            + usize::from(self.sound.is_some())
            + usize::from(self.video_input.is_some())
    }

    /// Whether some task matches both.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        fn compatible<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        self.model == other.model
            && compatible(self.resolution.as_ref(), other.resolution.as_ref())
            && compatible(self.sound.as_ref(), other.sound.as_ref())
            && compatible(self.video_input.as_ref(), other.video_input.as_ref())
    }

    fn cost(&self, seconds: VideoDuration) -> Money {
        // Rounded up: a cap must hold.
        let by_second = u128::from(self.per_second.as_micros()) * u128::from(seconds.as_millis());
        let by_second = u64::try_from(by_second.div_ceil(1_000)).unwrap_or(u64::MAX);
        Money::from_micros(by_second).saturating_add(self.per_task)
    }
}

impl Prices {
    /// The currency that all amounts are in, such as `USD`.
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// The day on which the prices were valid: `YYYY-MM-DD`.
    pub fn as_of(&self) -> &str {
        &self.as_of
    }

    /// Where the figures come from, in the user's words.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// With a table of its own for the tasks of a service, which are not looked up in this one. Its amounts become those of this table's currency.
    ///
    /// # Errors
    /// It has another currency, and no rate of exchange for the one that this table has: that one.
    pub fn with_service(mut self, service: &str, mut own: Self) -> Result<Self, String> {
        if own.currency != self.currency {
            match own.exchange {
                Some((currency, rate)) if currency == self.currency => {
                    for price in &mut own.lines {
                        price.per_second = exchanged(price.per_second, rate);
                        price.per_task = exchanged(price.per_task, rate);
                    }
                    (own.currency, own.exchange) = (currency, None);
                }
                _ => return Err(self.currency),
            }
        }
        self.of_services.insert(service.to_owned(), own);
        Ok(self)
    }

    /// A table with what is said of the tables here, and without prices.
    pub fn without_prices(&self) -> Self {
        Self { lines: Vec::new(), of_services: BTreeMap::new(), ..self.clone() }
    }

    /// The cost of a task; a range where the request leaves its length or resolution to the service.
    ///
    /// # Errors
    /// [`MissingPrice`] where some possible length or resolution has no price.
    pub fn estimate(&self, inputs: &PriceInputs) -> Result<Interval<Money>, MissingPrice> {
        self.over(inputs, inputs.seconds)
    }

    /// The actual cost of a task: by the requested length or, where that was left to the service, by the video's own in whole
    /// seconds.
    ///
    /// # Errors
    /// [`MissingPrice`] where the table does not price it.
    pub fn actual_cost(
        &self,
        inputs: &PriceInputs,
        video: VideoDuration,
    ) -> Result<Interval<Money>, MissingPrice> {
        let seconds = if inputs.seconds.is_exact() {
            inputs.seconds
        } else {
            Interval::exactly(VideoDuration::from_secs((video.as_millis() + 500) / 1_000))
        };
        self.over(inputs, seconds)
    }

    fn over(
        &self,
        inputs: &PriceInputs,
        seconds: Interval<VideoDuration>,
    ) -> Result<Interval<Money>, MissingPrice> {
        let cost_of = |resolution: Option<&str>| {
            let price = self.find(inputs, resolution)?;
            Ok(Interval { min: price.cost(seconds.min), max: price.cost(seconds.max) })
        };
        let mut cost: Option<Interval<Money>> = None;
        for resolution in &inputs.resolutions {
            let next = cost_of(Some(resolution))?;
            cost = Some(cost.map_or(next, |cost| cost.hull(next)));
        }
        cost.map_or_else(|| cost_of(None), Ok)
    }

    fn find(&self, inputs: &PriceInputs, resolution: Option<&str>) -> Result<&Price, MissingPrice> {
        let own = inputs.service.as_ref().and_then(|service| self.of_services.get(service));
        own.unwrap_or(self)
            .lines
            .iter()
            .filter(|price| price.matches(inputs, resolution))
            .max_by_key(|price| price.conditions())
            .ok_or_else(|| MissingPrice {
                model: inputs.model.clone(),
                resolution: resolution.map(str::to_owned),
                sound: inputs.sound,
                video_input: inputs.video_input,
            })
    }
}

/// An amount in another currency, rounded up: a cap must hold.
fn exchanged(amount: Money, rate: Money) -> Money {
    let micros = u128::from(amount.as_micros()) * u128::from(rate.as_micros());
    Money::from_micros(u64::try_from(micros.div_ceil(1_000_000)).unwrap_or(u64::MAX))
}
