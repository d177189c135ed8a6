//! Client-side limits towards the service. The contract states no limits and accounts differ, so they are flags.

use clap::Args;
use scheduler::Policy;
use scheduler::policy::Rate;

/// Client-side limits. The service's own limits apply besides: rejected requests (429) are sent again at a lower rate.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Maximum number of tasks in flight.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) jobs: Option<u16>,
    /// Maximum submissions in any minute, including those of earlier runs in this folder [default: 120].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) max_submits_per_minute: Option<u32>,
    /// Maximum polls in any second, over all tasks [default: 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) max_polls_per_second: Option<u32>,
    /// Maximum number of concurrent downloads [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) max_downloads: Option<u16>,
}

impl LimitArgs {
    /// Overrides the limits of `policy` for which a flag is present.
    pub(crate) fn apply(&self, policy: &mut Policy) {
        if let Some(jobs) = self.jobs {
            policy.max_in_flight = usize::from(jobs);
        }
        if let Some(submits) = self.max_submits_per_minute {
            policy.submit_rate = Some(Rate::per_minute(submits));
        }
        if let Some(polls) = self.max_polls_per_second {
            policy.poll_rate = Rate::per_second(polls);
        }
        if let Some(downloads) = self.max_downloads {
            policy.max_downloads = usize::from(downloads);
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct TestArgs {
        #[command(flatten)]
        limits: LimitArgs,
    }

    fn policy(flags: &str) -> Result<Policy, clap::Error> {
        let args = TestArgs::try_parse_from(std::iter::once("runner").chain(flags.split_whitespace()))?;
        let mut policy = Policy::local();
        args.limits.apply(&mut policy);
        Ok(policy)
    }

    #[test]
    fn limit_flags_override_policy() {
        let set = policy("-j 2 --max-submits-per-minute 30 --max-polls-per-second 5 --max-downloads 1")
            .expect("limits");
        assert_eq!((set.max_in_flight, set.max_downloads), (2, 1));
        assert_eq!((set.submit_rate, set.poll_rate), (Some(Rate::per_minute(30)), Rate::per_second(5)));
        assert_eq!(policy("").expect("no limits"), Policy::local());
        assert!(policy("--max-submits-per-minute 0").is_err());
    }

    #[test]
    fn limit_help_shows_remote_defaults() {
        let help = <TestArgs as clap::CommandFactory>::command().render_long_help().to_string();
        let policy = Policy::remote();
        let submits = policy.submit_rate.expect("a rate").count;
        for number in [submits, policy.poll_rate.count, policy.max_downloads as u32] {
            assert!(help.contains(&format!("[default: {number}]")), "{number}: {help}");
        }
    }
}
