//! What a run asks of a service at most: a contract names no numbers, accounts differ, and whoever knows theirs can say so.

use clap::Args;
use scheduler::Policy;
use scheduler::policy::Rate;

/// Limits. The service's own come before them: what it refuses is sent again more slowly.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Most tasks out at the service at once.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) jobs: Option<u16>,
    /// Most submissions in any minute, with those of earlier runs in this folder [default: 120].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) submits_per_minute: Option<u32>,
    /// Most polls in any second, over all tasks [default: 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) polls_per_second: Option<u32>,
    /// Most videos that are fetched at once [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) downloads: Option<u16>,
}

impl LimitArgs {
    /// The numbers that were given, in place of those that `policy` has.
    pub(crate) fn apply(&self, policy: &mut Policy) {
        if let Some(jobs) = self.jobs {
            policy.max_in_flight = usize::from(jobs);
        }
        if let Some(submits) = self.submits_per_minute {
            policy.submit_rate = Some(Rate::per_minute(submits));
        }
        if let Some(polls) = self.polls_per_second {
            policy.poll_rate = Rate::per_second(polls);
        }
        if let Some(downloads) = self.downloads {
            policy.max_downloads = usize::from(downloads);
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Words {
        #[command(flatten)]
        limits: LimitArgs,
    }

    fn policy(words: &str) -> Result<Policy, clap::Error> {
        let words = Words::try_parse_from(std::iter::once("runner").chain(words.split_whitespace()))?;
        let mut policy = Policy::local();
        words.limits.apply(&mut policy);
        Ok(policy)
    }

    #[test]
    fn limit_flags_override_policy() {
        let said = policy("-j 2 --submits-per-minute 30 --polls-per-second 5 --downloads 1").expect("limits");
        assert_eq!((said.max_in_flight, said.max_downloads), (2, 1));
        assert_eq!((said.submit_rate, said.poll_rate), (Some(Rate::per_minute(30)), Rate::per_second(5)));
        assert_eq!(policy("").expect("no limits"), Policy::local());
        assert!(policy("--submits-per-minute 0").is_err());
    }

    #[test]
    fn limit_help_shows_remote_defaults() {
        let help = <Words as clap::CommandFactory>::command().render_long_help().to_string();
        let policy = Policy::remote();
        let submits = policy.submit_rate.expect("a rate").count;
        for number in [submits, policy.poll_rate.count, policy.max_downloads as u32] {
            assert!(help.contains(&format!("[default: {number}]")), "{number}: {help}");
        }
    }
}
