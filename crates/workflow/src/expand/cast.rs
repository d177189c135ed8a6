//! The characters of a workflow: which of them an instance shows, and what templates see of them.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

use super::ExpandCx;
use super::axes::axis_names;
use super::dedup::DiagnosticDedup;
use super::expansion::Instance;
use super::fields::{is_left_out, is_literal};
use super::free_variables::mentions;
use super::urls::{is_url, names_a_local_file};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list, shortened};
use crate::source::Span;
use crate::syntax::{Character, Entry, Shot, Workflow, one_or_many};
use crate::template::{CAST, CastUses, CastValue, CharacterText, Scope, Value};
use crate::yaml::{Yaml, YamlValue};

/// The help where a request cannot have the stills or the voice of a character.
pub(super) const DESCRIPTION_ONLY: &str = "remove the character from `cast`, and write `{{ cast.NAME }}` in the prompt: this sends the description alone";

/// What a rendered description costs of the work of an expansion: more than a step of a matrix.
const STEPS_OF_TEXT: usize = 10;

/// What a name in a rendered `cast` costs: it is compared with all others.
const STEPS_OF_NAME: usize = 8;

/// The characters that an instance shows, in the order of its `cast`, each with the span that names it.
pub(super) type CastList = Arc<[(usize, Span)]>;

/// The cast of a workflow.
pub(super) struct Cast<'w> {
    workflow: &'w Workflow,
    /// The texts of the characters whose templates are the same for all instances: those without any.
    fixed: Arc<[Option<Arc<CharacterText>>]>,
    names: Arc<[Arc<str>]>,
    uses: Arc<CastUses>,
    /// Characters that some instance shows.
    shown: Vec<Cell<bool>>,
    /// Whether a template of each shot, or of the defaults, may name a character.
    named_in: Vec<bool>,
    /// The characters of the last shot whose `cast` has no template.
    last: Cell<Option<(usize, CastList)>>,
}

/// The cast of one instance.
pub(super) struct InstanceCast {
    pub(super) listed: CastList,
    /// By character; `None` where the instance does not need it.
    texts: Arc<[Option<Arc<CharacterText>>]>,
    /// Which texts the prompt names.
    pub(super) uses: Arc<CastUses>,
}

impl InstanceCast {
    /// The texts of a character that the instance shows.
    pub(super) fn text(&self, index: usize) -> Option<&CharacterText> {
        self.texts.get(index)?.as_deref()
    }
}

impl<'w> Cast<'w> {
    pub(super) fn new(workflow: &'w Workflow, problems: &mut Problems) -> Self {
        if !workflow.cast.is_empty() {
            report_taken_name(workflow, problems);
        }
        let in_defaults = workflow.all_defaults().any(|entry| mentions(&entry.value, CAST));
        let named_in = match workflow.cast.as_slice() {
            [] => vec![false; workflow.shots.len()],
            _ => workflow.shots.iter().map(|shot| in_defaults || is_named_in(shot)).collect(),
        };
        Self {
            workflow,
            fixed: workflow.cast.iter().map(fixed_text).collect(),
            names: workflow.cast.iter().map(|character| Arc::from(character.key.value.as_str())).collect(),
            uses: Arc::new(CastUses::new(workflow.cast.len())),
            shown: vec![Cell::new(false); workflow.cast.len()],
            named_in,
            last: Cell::new(None),
        }
    }

    /// A character by its index.
    pub(super) fn character(&self, index: usize) -> &'w Character {
        &self.workflow.cast[index]
    }

    /// The characters that an instance shows. Unknown ones are reported.
    pub(super) fn listed(
        &self,
        instance: &Instance,
        scope: &Scope,
        cx: &ExpandCx<'w>,
        dedup: &mut DiagnosticDedup,
        problems: &mut Problems,
    ) -> CastList {
        let shot: &'w Shot = &self.workflow.shots[instance.shot];
        let Some(entry) = &shot.cast else { return CastList::default() };
        if let Some((index, listed)) = self.last.take()
            && index == instance.shot
        {
            self.last.set(Some((index, Arc::clone(&listed))));
            return listed;
        }
        let Some(rendered) = cx.templates.render(&entry.value, scope, problems) else {
            return CastList::default();
        };
        let items = one_or_many(&rendered);
        if !cx.work.charge(items.len() * STEPS_OF_NAME) {
            problems.push(too_much_work(entry.key.span));
            return CastList::default();
        }
        let reported = dedup.total();
        let mut listed: Vec<(usize, Span)> = Vec::new();
        for item in items.iter().filter(|item| !is_left_out(item)) {
            let span = item.span.or(entry.key.span);
            match self.find(item, span) {
                Ok(index) if listed.iter().any(|(existing, _)| *existing == index) => {}
                Ok(index) => {
                    self.shown[index].set(true);
                    listed.push((index, span));
                }
                Err(diagnostic) => dedup.add(instance, *diagnostic),
            }
        }
        let listed: CastList = listed.into();
        if is_literal(&entry.value) && dedup.total() == reported {
            self.last.set(Some((instance.shot, Arc::clone(&listed))));
        }
        listed
    }

    fn find(&self, item: &Yaml, span: Span) -> Result<usize, Box<Diagnostic>> {
        let YamlValue::Text(name) = &item.value else {
            let diagnostic = Diagnostic::error("wrong-type", span, "`cast` names characters")
                .label(format!("this is {}", item.kind()))
                .help("write `cast: [keeper]`; a character is described at the top of the file");
            return Err(Box::new(diagnostic));
        };
        let position = self.names.iter().position(|candidate| **candidate == *name.trim());
        position.ok_or_else(|| {
            let names = || self.names.iter().map(|name| &**name);
            let help = did_you_mean(name, names()).unwrap_or_else(|| {
                if self.names.is_empty() {
                    "describe it at the top of the file: `cast: {keeper: a grey-bearded keeper}`".to_owned()
                } else {
                    format!("the characters are {}", quoted_list(names(), 12))
                }
            });
            let message = format!("there is no character `{}`", shortened(name));
            Box::new(Diagnostic::error("unknown-character", span, message).help(help))
        })
    }

    /// The cast of an instance, and its variables with the characters among them; `None` if a text fails, which is reported.
    pub(super) fn instance(
        &self,
        instance: &Instance,
        listed: &CastList,
        scope: Scope,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Option<(InstanceCast, Scope)> {
        if self.names.is_empty() {
            let texts = Arc::clone(&self.fixed);
            return Some((
                InstanceCast { listed: Arc::clone(listed), texts, uses: Arc::clone(&self.uses) },
                scope,
            ));
        }
        let named = self.named_in[instance.shot];
        let is_needed = |index: usize| named || listed.iter().any(|(existing, _)| *existing == index);
        let varying = (0..self.fixed.len()).filter(|index| self.fixed[*index].is_none() && is_needed(*index));
        let mut texts: Option<Vec<_>> = None;
        for index in varying {
            let text = self.rendered(index, &scope, cx, problems)?;
            texts.get_or_insert_with(|| self.fixed.to_vec())[index] = Some(Arc::new(text));
        }
        let texts = texts.map_or_else(|| Arc::clone(&self.fixed), Arc::from);
        let value = CastValue {
            names: Arc::clone(&self.names),
            texts: Arc::clone(&texts),
            uses: Arc::clone(&self.uses),
        };
        let scope = scope.with([(CAST, Value::from_object(value))]);
        Some((InstanceCast { listed: Arc::clone(listed), texts, uses: Arc::clone(&self.uses) }, scope))
    }

    /// The texts of a character whose templates differ between instances.
    fn rendered(
        &self,
        index: usize,
        scope: &Scope,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Option<CharacterText> {
        let character = self.character(index);
        if !cx.work.charge(STEPS_OF_TEXT) {
            problems.push(too_much_work(character.key.span));
            return None;
        }
        let mut text =
            |entry: &'w Entry| -> Option<Yaml> { cx.templates.render(&entry.value, scope, problems) };
        let description = character.description.as_ref().map(&mut text);
        let voice = character.voice.as_ref().map(&mut text);
        let description = match description {
            Some(description) => Arc::from(as_text(&description?, character, problems)?),
            None => Arc::default(),
        };
        let voice = match voice {
            Some(voice) => Some(voice?).filter(|voice| !is_sound(voice) && !voice.is_null()),
            None => None,
        };
        let voice = match voice {
            Some(voice) => Some(Arc::from(as_text(&voice, character, problems)?)),
            None => None,
        };
        Some(CharacterText { description, voice })
    }

    /// Warns of characters that no shot shows and no template names. Those of included files are exempt.
    pub(super) fn report_unused(&self, named: &HashSet<&str>, problems: &mut Problems) {
        let in_excluded: HashSet<&str> = self
            .workflow
            .shots
            .iter()
            .filter_map(|shot| shot.cast.as_ref())
            .flat_map(|entry| one_or_many(&entry.value))
            .filter_map(|item| item.text().map(str::trim))
            .collect();
        for (index, character) in self.workflow.cast.iter().enumerate() {
            let name = character.key.value.as_str();
            let is_used = self.shown[index].get()
                || self.uses.was_named(index)
                || in_excluded.contains(name)
                || named.contains(CAST) && named.contains(name);
            if !is_used && !character.is_included {
                let message = format!("no shot shows the character `{name}`");
                problems.push(
                    Diagnostic::warning("unused-character", character.key.span, message)
                        .help(format!("write `cast: [{name}]` in its shots, or remove it")),
                );
            }
        }
    }
}

fn too_much_work(span: Span) -> Diagnostic {
    Diagnostic::error("template-limit", span, "the characters of this file are described too often")
        .help("use fewer instances, or a `cast` and descriptions without templates")
}

/// The texts of a character without templates; `None` with some, or where a value is not text.
fn fixed_text(character: &Character) -> Option<Arc<CharacterText>> {
    let parts = || character.description.iter().chain(&character.voice);
    let is_text = |entry: &Entry| matches!(entry.value.value, YamlValue::Text(_) | YamlValue::Map(_));
    if !parts().all(|entry| is_literal(&entry.value) && is_text(entry)) {
        return None;
    }
    let description = match &character.description {
        Some(entry) => entry.value.text()?.trim().into(),
        None => Arc::default(),
    };
    let voice = character.voice.as_ref().filter(|entry| !is_sound(&entry.value));
    let voice = match voice {
        Some(entry) => Some(entry.value.text()?.trim().into()),
        None => None,
    };
    Some(Arc::new(CharacterText { description, voice }))
}

/// Whether a voice is a sound, and not text for the prompt.
pub(super) fn is_sound(voice: &Yaml) -> bool {
    match &voice.value {
        YamlValue::Map(_) => true,
        YamlValue::Text(text) => is_url(text) || names_a_local_file(text),
        _ => false,
    }
}

/// Text without the spaces around it; `None` if it is not text, which is reported.
fn as_text(value: &Yaml, character: &Character, problems: &mut Problems) -> Option<String> {
    match &value.value {
        YamlValue::Text(text) => Some(text.trim().to_owned()),
        YamlValue::Number(number) => Some(number.to_string()),
        YamlValue::Null => Some(String::new()),
        YamlValue::Bool(_) | YamlValue::List(_) | YamlValue::Map(_) => {
            let message = format!("the description and the voice of `{}` must be text", character.key.value);
            problems.push(
                Diagnostic::error("wrong-type", value.span.or(character.key.span), message)
                    .label(format!("this is {}", value.kind())),
            );
            None
        }
    }
}

fn is_named_in(shot: &Shot) -> bool {
    let lines = shot.dialogue.iter().flat_map(|line| std::iter::once(&line.text).chain(&line.speaker));
    shot.fields.iter().chain(&shot.salt).chain(lines).any(|entry| mentions(&entry.value, CAST))
}

/// Reports a parameter and an axis that have the name by which templates reach the characters.
fn report_taken_name(workflow: &Workflow, problems: &mut Problems) {
    let params = workflow.all_params().map(|param| &param.key).filter(|key| key.value == CAST);
    let matrices =
        workflow.matrix.iter().chain(workflow.shots.iter().filter_map(|shot| shot.matrix.as_ref()));
    let axes = matrices
        .filter(|matrix| axis_names(&matrix.value).any(|axis| axis == CAST))
        .map(|matrix| &matrix.key);
    for key in params.chain(axes) {
        problems.push(
            Diagnostic::error("bad-name", key.span, "`cast` is the name of the characters in templates")
                .help("give the parameter or the axis another name"),
        );
    }
}
