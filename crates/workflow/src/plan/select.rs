//! Selects nodes by name patterns from the command line.

use std::collections::BTreeSet;

use super::{Node, NodeIx, Plan};
use crate::diagnostic::{did_you_mean, quoted_list, visible};
use crate::letters::normalized;
use crate::limits;

/// What the name of a group begins with. No shot has such a name.
const GROUP_PREFIX: &str = "group:";

/// A name that no node of a plan has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UnknownName {
    /// What there is not.
    pub message: String,
    /// The nearest name, or what the workflow has instead.
    pub help: Option<String>,
}

impl Plan {
    /// The nodes that a pattern matches, in file order: an instance (`harbor@lens=24mm,seed=1#2`), a shot with all its instances
    /// (`harbor`), or those of its instances that have some values of the matrix (`harbor@lens=24mm`) or a take (`harbor#2`). A repeated shot
    /// stands for its steps, and `group:storm` for all shots of a group.
    ///
    /// # Errors
    /// No node matches.
    pub fn select(&self, name: &str) -> Result<Vec<NodeIx>, UnknownName> {
        let name = &*normalized(name);
        if let Some(exactly) = self.find(name) {
            // With the render that was asked for while another one is picked.
            let extra =
                self.nodes().filter(|(_, node)| node.take.is_some() && node.name_without_take() == name);
            return Ok([exactly].into_iter().chain(extra.map(|(ix, _)| ix)).collect());
        }
        if let Some(group) = name.strip_prefix(GROUP_PREFIX) {
            return self.select_group(group);
        }
        let pattern = NamePattern::parse(name);
        let matching: Vec<NodeIx> = self
            .nodes()
            .filter(|(_, node)| {
                let name = NamePattern::parse(&node.name);
                (name.shot == pattern.shot || node.step_of.as_deref() == Some(pattern.shot))
                    && pattern.cell.is_subset(&name.cell)
                    && (pattern.take.is_none() || pattern.take == name.take)
            })
            .map(|(ix, _)| ix)
            .collect();
        if !matching.is_empty() {
            return Ok(matching);
        }
        if let Some(missing) = self.missing_take(name, &pattern) {
            return Err(missing);
        }
        if let Some(list) = self.listed_with_commas(name) {
            return Err(list);
        }
        let steps = self.nodes().filter_map(|(_, node)| node.step_of.as_deref());
        let shots: BTreeSet<&str> = self.nodes().map(|(_, node)| &*node.shot).chain(steps).collect();
        let help =
            if shots.contains(pattern.shot) {
                let instances: Vec<&str> = self
                    .nodes()
                    .filter(|(_, node)| {
                        *node.shot == *pattern.shot || node.step_of.as_deref() == Some(pattern.shot)
                    })
                    .map(|(_, node)| node.name.as_str())
                    .collect();
                let nearest = did_you_mean(name, instances.iter().copied());
                Some(nearest.unwrap_or_else(|| {
                    format!("`{}` has instances such as `{}`", pattern.shot, instances[0])
                }))
            } else {
                did_you_mean(pattern.shot, shots)
            };
        Err(UnknownName { message: format!("there is no shot `{}`", visible(name)), help })
    }
}

impl Plan {
    /// Several shots in one word. An instance has commas as well, after its `@`.
    fn listed_with_commas(&self, name: &str) -> Option<UnknownName> {
        let names: Vec<&str> = name.split(',').map(str::trim).collect();
        if names.len() < 2 || names.iter().any(|name| name.contains(',') || self.select(name).is_err()) {
            return None;
        }
        Some(UnknownName {
            message: format!("there is no shot `{}`", visible(name)),
            help: Some(format!("shots are separated by spaces: `{}`", visible(&names.join(" ")))),
        })
    }

    /// A take that a shot with takes, or one without any, does not have.
    fn missing_take(&self, name: &str, pattern: &NamePattern<'_>) -> Option<UnknownName> {
        let take: u64 = pattern.take?.parse().ok().filter(|take| *take > 0)?;
        let mut takes: Vec<&Node> = Vec::new();
        for (_, node) in self.nodes() {
            let own = NamePattern::parse(&node.name);
            let is_shot = own.shot == pattern.shot || node.step_of.as_deref() == Some(pattern.shot);
            if is_shot && pattern.cell.is_subset(&own.cell) {
                takes.push(node);
            }
        }
        let max_take = takes.iter().map(|node| node.take.unwrap_or_default()).max()?;
        let shot = visible(name.rsplit_once('#').map_or(name, |(shot, _)| shot));
        let (count, nearest) = match max_take {
            0 => ("no takes".to_owned(), shot.clone()),
            1 => ("1 take".to_owned(), format!("{shot}#1")),
            max_take => (format!("{max_take} takes"), format!("{shot}#{max_take}")),
        };
        let more = if (2..=limits::MAX_TAKES).contains(&take) {
            format!(" With `takes: {take}` in the workflow there are more")
        } else {
            String::new()
        };
        Some(UnknownName {
            message: format!("there is no shot `{}`: `{shot}` has {count}", visible(name)),
            help: Some(format!("did you mean `{nearest}`?{more}")),
        })
    }

    fn select_group(&self, group: &str) -> Result<Vec<NodeIx>, UnknownName> {
        let matching: Vec<NodeIx> =
            self.nodes().filter(|(_, node)| node.group.as_deref() == Some(group)).map(|(ix, _)| ix).collect();
        if !matching.is_empty() {
            return Ok(matching);
        }
        let groups: BTreeSet<&str> = self.nodes().filter_map(|(_, node)| node.group.as_deref()).collect();
        let help = did_you_mean(group, groups.iter().copied()).unwrap_or_else(|| {
            if groups.is_empty() {
                "the workflow has no groups with shots".to_owned()
            } else {
                format!("its groups are {}", quoted_list(groups.iter().copied(), 12))
            }
        });
        Err(UnknownName {
            message: format!("there is no shot in a group `{}`", visible(group)),
            help: Some(help),
        })
    }
}

struct NamePattern<'a> {
    shot: &'a str,
    cell: BTreeSet<&'a str>,
    take: Option<&'a str>,
}

impl<'a> NamePattern<'a> {
    fn parse(text: &'a str) -> Self {
        let (rest, take) = text.split_once('#').map_or((text, None), |(rest, take)| (rest, Some(take)));
        let (shot, cell) = rest.split_once('@').map_or((rest, ""), |(shot, cell)| (shot, cell));
        Self { shot, cell: cell.split(',').filter(|value| !value.is_empty()).collect(), take }
    }
}
