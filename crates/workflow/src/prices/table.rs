//! The price table, and what one task costs by it.

use std::fmt;

use super::{Interval, Money, PriceInputs, VideoDuration};
use crate::source::Span;

/// A dated price table: what a service asked for a task on a certain day, as far as its user knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices {
    pub(super) currency: String,
    pub(super) as_of: String,
    pub(super) source: String,
    pub(super) lines: Vec<Price>,
}

/// One line of the table: what it is for, and what that costs. What it does not say it does not care about.
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

/// A task of which the table does not say what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpriced {
    model: String,
    resolution: Option<String>,
    sound: bool,
    video_input: bool,
}

impl fmt::Display for Unpriced {
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
    fn fits(&self, billing: &PriceInputs, resolution: Option<&str>) -> bool {
        self.model == billing.model
            && self.resolution.as_deref().is_none_or(|wanted| Some(wanted) == resolution)
            && self.sound.is_none_or(|wanted| wanted == billing.sound)
            && self.video_input.is_none_or(|wanted| wanted == billing.video_input)
    }

    /// How many conditions it makes besides the model. Of those that fit, the one with the most counts.
    pub(super) fn conditions(&self) -> usize {
        usize::from(self.resolution.is_some())
            + usize::from(self.sound.is_some())
            + usize::from(self.video_input.is_some())
    }

    /// Whether some task fits both.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        fn compatible<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        self.model == other.model
            && compatible(self.resolution.as_ref(), other.resolution.as_ref())
            && compatible(self.sound.as_ref(), other.sound.as_ref())
            && compatible(self.video_input.as_ref(), other.video_input.as_ref())
    }

    fn of(&self, seconds: VideoDuration) -> Money {
        // Rounded up: a cap must hold.
        let by_second = u128::from(self.per_second.micros()) * u128::from(seconds.millis());
        let by_second = u64::try_from(by_second.div_ceil(1_000)).unwrap_or(u64::MAX);
        Money::from_micros(by_second).saturating_add(self.per_task)
    }
}

impl Prices {
    /// The currency that all amounts are in, such as `USD`.
    #[must_use]
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// The day on which the prices were so: `YYYY-MM-DD`.
    #[must_use]
    pub fn as_of(&self) -> &str {
        &self.as_of
    }

    /// Where the figures come from, in the user's words.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What one task costs. Where the request leaves its length or its resolution to the service, the range of all that may come.
    ///
    /// # Errors
    /// [`Unpriced`] where the table does not price everything that may come.
    pub fn estimate(&self, billing: &PriceInputs) -> Result<Interval<Money>, Unpriced> {
        self.over(billing, billing.seconds)
    }

    /// What one task has cost: by the requested length or, where that was left to the service, by the video's own in whole
    /// seconds.
    ///
    /// # Errors
    /// [`Unpriced`] where the table does not price it.
    pub fn actual_cost(
        &self,
        billing: &PriceInputs,
        video: VideoDuration,
    ) -> Result<Interval<Money>, Unpriced> {
        let seconds = if billing.seconds.is_exact() {
            billing.seconds
        } else {
            Interval::exactly(VideoDuration::whole((video.millis() + 500) / 1_000))
        };
        self.over(billing, seconds)
    }

    fn over(
        &self,
        billing: &PriceInputs,
        seconds: Interval<VideoDuration>,
    ) -> Result<Interval<Money>, Unpriced> {
        let one = |resolution: Option<&str>| {
            let price = self.find(billing, resolution)?;
            Ok(Interval { least: price.of(seconds.least), most: price.of(seconds.most) })
        };
        let mut found: Option<Interval<Money>> = None;
        for resolution in &billing.resolutions {
            let next = one(Some(resolution))?;
            found = Some(found.map_or(next, |found| found.hull(next)));
        }
        found.map_or_else(|| one(None), Ok)
    }

    fn find(&self, billing: &PriceInputs, resolution: Option<&str>) -> Result<&Price, Unpriced> {
        self.lines
            .iter()
            .filter(|price| price.fits(billing, resolution))
            .max_by_key(|price| price.conditions())
            .ok_or_else(|| Unpriced {
                model: billing.model.clone(),
                resolution: resolution.map(str::to_owned),
                sound: billing.sound,
                video_input: billing.video_input,
            })
    }
}
