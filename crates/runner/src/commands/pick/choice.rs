//! What `runner pick FILE SHOT CHOICE` names.

use workflow::ShotRef;

use crate::error::CommandError;

/// A take, an instance, or a take of an instance.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) shot: String,
    /// The part of the shot's instances whose take is picked: `look=noir`.
    pub(super) scope_cell: Option<String>,
    /// The instance, in the form of instance names: `look=noir,seed=3`.
    pub(super) cell: Option<String>,
    pub(super) take: Option<u32>,
}

impl Choice {
    /// Reads a choice: `2`, `#2`, `look=noir,seed=3`, `look=noir#2`, or the name of an instance. `None` if there is none.
    pub(super) fn parse(scope: &ShotRef, choice: Option<&str>) -> Result<Option<Self>, CommandError> {
        let ShotRef { shot, cell: scope_cell, take: scope_take } = scope.clone();
        let Some(choice) = choice else {
            return Ok(scope_take.map(|take| Self { shot, scope_cell, cell: None, take: Some(take) }));
        };
        let reference = match choice.strip_prefix(shot.as_str()) {
            Some(rest) if rest.starts_with(['@', '#']) => choice.to_owned(),
            _ if choice.starts_with('#') => format!("{shot}{choice}"),
            _ if choice.parse::<u32>().is_ok() => format!("{shot}#{choice}"),
            _ if choice.contains('=') && !choice.contains('@') => format!("{shot}@{choice}"),
            _ => {
                let message = format!("`{choice}` is neither a take nor an instance of {shot}");
                return Err(CommandError::invalid(message)
                    .hint("write a take such as `2`, or an instance by its axes such as `seed=3`"));
            }
        };
        let reference = ShotRef::parse(&reference).map_err(CommandError::invalid)?;
        if scope_take.is_some() && reference.take.is_some() {
            return Err(CommandError::invalid(format!(
                "the take is given twice: write `{shot} 2` or `{shot}#2`"
            )));
        }
        let take = reference.take.or(scope_take);
        Ok(Some(match (scope_cell, reference.cell) {
            // The scope of an instance is a part of its name.
            (Some(scope), Some(cell)) => {
                Self { shot, scope_cell: None, cell: Some(format!("{scope},{cell}")), take }
            }
            (scope_cell, cell) => Self { shot, scope_cell, cell, take },
        }))
    }

    /// The instances whose take is picked.
    pub(super) fn scope(&self) -> ShotRef {
        ShotRef { shot: self.shot.clone(), cell: self.scope_cell.clone(), take: None }
    }
}

/// The part of an instance's name after `@`.
pub(super) fn cell_of(name: &str) -> &str {
    name.split_once('@').map_or("", |(_, cell)| cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choice_is_a_take_an_instance_or_both() {
        let parse = |shot: &str, choice: Option<&str>| {
            let choice = Choice::parse(&ShotRef::parse(shot).unwrap(), choice).unwrap()?;
            Some((choice.scope_cell, choice.cell, choice.take))
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(parse("lamp", None), None);
        assert_eq!(parse("lamp@look=noir", None), None);
        assert_eq!(parse("lamp#2", None), Some((None, None, Some(2))));
        assert_eq!(parse("lamp", Some("2")), Some((None, None, Some(2))));
        assert_eq!(parse("lamp", Some("lamp#2")), Some((None, None, Some(2))));
        assert_eq!(parse("lamp@look=noir", Some("2")), Some((text("look=noir"), None, Some(2))));
        assert_eq!(parse("lamp", Some("look=noir,seed=3")), Some((None, text("look=noir,seed=3"), None)));
        assert_eq!(parse("lamp", Some("lamp@look=noir#2")), Some((None, text("look=noir"), Some(2))));
        assert_eq!(parse("lamp@look=noir", Some("seed=3")), Some((None, text("look=noir,seed=3"), None)));
        for invalid in ["noir", "", "lam@look=noir", "#0"] {
            assert!(Choice::parse(&ShotRef::parse("lamp").unwrap(), Some(invalid)).is_err(), "{invalid}");
        }
        assert!(Choice::parse(&ShotRef::parse("lamp#1").unwrap(), Some("2")).is_err());
    }
}
