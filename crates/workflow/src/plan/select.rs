//! Selects nodes by name patterns from the command line.

use std::collections::BTreeSet;

use super::{NodeIx, Plan};
use crate::diagnostic::{did_you_mean, visible};
use crate::letters::normalized;

impl Plan {
    /// The nodes that a pattern matches, in file order: an instance (`harbor@lens=24mm,seed=1#2`), a shot with all its instances
    /// (`harbor`), or those of its instances that have some values of the matrix (`harbor@lens=24mm`) or a take (`harbor#2`).
    ///
    /// # Errors
    /// No node matches; the message suggests the nearest name.
    pub fn select(&self, name: &str) -> Result<Vec<NodeIx>, String> {
        let name = &*normalized(name);
        if let Some(exactly) = self.find(name) {
            return Ok(vec![exactly]);
        }
        let pattern = NamePattern::parse(name);
        let found: Vec<NodeIx> = self
            .nodes()
            .filter(|(_, node)| {
                let name = NamePattern::parse(&node.name);
                name.shot == pattern.shot
                    && pattern.cell.is_subset(&name.cell)
                    && (pattern.take.is_none() || pattern.take == name.take)
            })
            .map(|(ix, _)| ix)
            .collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let shots: BTreeSet<&str> = self.nodes().map(|(_, node)| &*node.shot).collect();
        let help = if shots.contains(pattern.shot) {
            let instances: Vec<&str> = self
                .nodes()
                .filter(|(_, node)| *node.shot == *pattern.shot)
                .map(|(_, node)| node.name.as_str())
                .collect();
            did_you_mean(name, instances.iter().copied())
                .unwrap_or_else(|| format!("`{}` has instances such as `{}`", pattern.shot, instances[0]))
        } else {
            did_you_mean(pattern.shot, shots).unwrap_or_else(|| "`runner plan` lists them all".to_owned())
        };
        Err(format!("no shot is named `{}`: {help}", visible(name)))
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
