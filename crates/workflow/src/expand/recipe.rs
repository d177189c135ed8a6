//! The short way to the nodes of a shot's instances: what they have in common is made, and checked, once.
//!
//! Invariant: every request of every instance is checked against the contract. A node comes from here only if
//! [`Series::accepts`] takes its whole request, stand-ins included; where it does not, or anything else is out of order, the
//! instance takes the long way, [`request::node`], which looks at everything and reports what it finds.

use std::sync::Arc;

use contract::{Field, Model, Series};
use serde_json::Value;

use super::frames::Slot;
use super::lower::{self, Put};
use super::request::{self, Making, Work};
use super::tally::Tally;
use super::{Cx, check, paths};
use crate::diagnostic::Problems;
use crate::plan::{Cell, Input, Node, Place, Request, is_written_the_same};
use crate::syntax::{Entry, Workflow};
use crate::template::has_template;
use crate::yaml::{Yaml, YamlValue};

/// The recipes of all shots, made when they are needed.
pub(super) struct Recipes<'w> {
    /// By the shot's position; a shot has one for each model that its instances use.
    shots: Vec<Vec<Recipe<'w>>>,
}

/// How the instances of a shot that use one model are made.
struct Recipe<'w> {
    model: &'w Model,
    /// What all nodes have in common.
    shot: Arc<str>,
    note: Option<Arc<str>>,
    model_id: Arc<str>,
    place: Place,
    /// The fields that are set, in the contract's order.
    fields: Vec<Ingredient<'w>>,
    /// Whether a problem is known already that all instances have.
    broken: bool,
    series: Series<'w>,
    lowered: Option<Lowered>,
    /// The last instance's axes and field names, which are the next one's as a rule.
    cell: Vec<(Arc<str>, Arc<Value>)>,
    names: Arc<[Arc<str>]>,
}

/// A request field.
struct Ingredient<'w> {
    field: &'w Field,
    name: Arc<str>,
    entry: &'w Entry,
    from_defaults: bool,
    /// Whether it holds no template: then `last` is its value for all instances.
    literal: bool,
    /// The value of the last instance that had one.
    last: Option<Arc<Value>>,
}

/// What lowering made of a request. It depends on what is asked for, on which fields there are, and on the values of those
/// that it changes.
struct Lowered {
    asked: Vec<(Slot, Value)>,
    continued: bool,
    names_before: Arc<[Arc<str>]>,
    names: Arc<[Arc<str>]>,
    changed: Vec<Changed>,
    /// The places of the inputs.
    pointers: Vec<String>,
}

/// A field that lowering changed or added.
struct Changed {
    at: usize,
    before: Option<Arc<Value>>,
    sent: Arc<Value>,
    /// With stand-ins for what is not known yet.
    whole: Arc<Value>,
}

impl<'w> Recipes<'w> {
    pub(super) fn new(workflow: &'w Workflow) -> Self {
        Self { shots: workflow.shots.iter().map(|_| Vec::new()).collect() }
    }

    /// The node of an instance; nothing where something keeps it from being made, which is reported.
    pub(super) fn node(
        &mut self,
        work: &Work<'_, 'w>,
        cx: &Cx<'w>,
        tally: &mut Tally,
        problems: &mut Problems,
    ) -> Option<Node> {
        let quick = self.of(work, cx).and_then(|recipe| recipe.node(work, cx));
        quick.or_else(|| request::node(work, cx, tally, problems))
    }

    fn of(&mut self, work: &Work<'_, 'w>, cx: &Cx<'w>) -> Option<&mut Recipe<'w>> {
        let known = &mut self.shots[work.draft.shot];
        let (entry, _) = request::entry(work, "model")?;
        let rendered;
        let id = match entry.value.text()? {
            text if has_template(text) => {
                rendered = cx.templates.json(&entry.value, &work.scope, &mut Problems::default())?;
                rendered.as_str()?
            }
            text => text,
        };
        let at = match known.iter().position(|recipe| &*recipe.model_id == id) {
            Some(at) => at,
            None => {
                known.push(Recipe::new(work, cx.contract.model(id)?, cx));
                known.len() - 1
            }
        };
        known.get_mut(at)
    }
}

impl<'w> Recipe<'w> {
    fn new(work: &Work<'_, 'w>, model: &'w Model, cx: &Cx<'w>) -> Self {
        let shot = work.fanned.shot;
        let mut fields = Vec::new();
        for field in cx.contract.fields(&model.family) {
            let Some((entry, from_defaults)) = request::entry(work, &field.name) else { continue };
            let literal = is_literal(&entry.value);
            let value = literal.then(|| request::on_the_wire(entry.value.to_json(), field));
            if value.as_ref().is_some_and(Value::is_null) {
                continue;
            }
            let (name, last) = (Arc::from(field.name.as_str()), value.map(Arc::new));
            fields.push(Ingredient { field, name, entry, from_defaults, literal, last });
        }
        let unknown =
            shot.fields.iter().any(|entry| request::unknown_field(entry, Some(model), cx).is_some());
        let local = fields.iter().filter_map(|field| field.last.as_deref()).any(paths::names_one);
        Self {
            model,
            shot: shot.id.value.as_str().into(),
            note: shot.note.as_ref().map(|note| note.value.as_str().into()),
            model_id: model.id.as_str().into(),
            place: cx.place(shot.id.span),
            fields,
            broken: unknown || local,
            series: cx.contract.series(&model.family),
            lowered: None,
            cell: Vec::new(),
            names: Arc::default(),
        }
    }

    /// The node, where everything about it is in order.
    fn node(&mut self, work: &Work<'_, 'w>, cx: &Cx<'w>) -> Option<Node> {
        if self.broken {
            return None;
        }
        let (mut names, mut values) = self.rendered(work, cx)?;
        let mut inputs = Vec::new();
        let accepted = if work.frames.is_empty() && !work.continued {
            self.series.accepts(&names, &values)
        } else {
            let media: Option<Vec<Put>> =
                work.frames.iter().map(|used| lower::medium(used, work.stage)).collect();
            let media = media?;
            if !self.lowered.as_ref().is_some_and(|lowered| lowered.fits(&names, &values, &media, work)) {
                self.lowered = Lowered::new(self.model, &self.fields, &names, &values, &media, work, cx);
            }
            let lowered = self.lowered.as_ref()?;
            let mut whole = values.clone();
            for Changed { at, sent, whole: checked, .. } in &lowered.changed {
                put(&mut values, *at, sent);
                put(&mut whole, *at, checked);
            }
            let sources = media.into_iter().filter_map(|put| put.source);
            let pointers = lowered.pointers.iter().cloned();
            inputs.extend(pointers.zip(sources).map(|(pointer, source)| Input { pointer, source }));
            names = Arc::clone(&lowered.names);
            self.series.accepts(&names, &whole)
        };
        if !accepted {
            return None;
        }
        let mut trouble = Problems::default();
        let salt = request::salt(work, cx, &mut trouble);
        if trouble.any() {
            return None;
        }
        let request = Request::new(names, values);
        Some(Node {
            name: work.draft.name.clone(),
            shot: Arc::clone(&self.shot),
            cell: self.cell(work),
            take: work.draft.take,
            note: self.note.clone(),
            model: Arc::clone(&self.model_id),
            family: self.model.family.clone(),
            seconds: request::seconds(|name| request.get(name), &self.model.family, cx),
            request,
            inputs,
            salt,
            occurrence: 0,
            retry: work.fanned.retry,
            timeout: work.fanned.timeout,
            place: self.place.clone(),
        })
    }

    /// The fields of an instance, before media are put in. A value that is the last instance's is shared with it.
    fn rendered(&mut self, work: &Work<'_, 'w>, cx: &Cx<'w>) -> Option<(Arc<[Arc<str>]>, Vec<Arc<Value>>)> {
        let mut names = Vec::with_capacity(self.fields.len());
        let mut values = Vec::with_capacity(self.fields.len() + 2);
        for ingredient in &mut self.fields {
            if !ingredient.literal {
                let value =
                    cx.templates.json(&ingredient.entry.value, &work.scope, &mut Problems::default())?;
                let value = request::on_the_wire(value, ingredient.field);
                if value.is_null() {
                    continue;
                }
                if !ingredient.last.as_deref().is_some_and(|last| is_written_the_same(last, &value)) {
                    if paths::names_one(&value) {
                        return None;
                    }
                    ingredient.last = Some(Arc::new(value));
                }
            }
            names.push(&ingredient.name);
            values.extend(ingredient.last.clone());
        }
        if self.names.len() != names.len() || !self.names.iter().eq(names.iter().copied()) {
            self.names = names.into_iter().cloned().collect();
        }
        Some((Arc::clone(&self.names), values))
    }

    /// The cell, sharing what is the last instance's.
    fn cell(&mut self, work: &Work<'_, 'w>) -> Cell {
        let values = &work.cell.values;
        if self.cell.len() != values.len() {
            self.cell.clear();
        }
        for (at, (axis, value)) in values.iter().enumerate() {
            match self.cell.get_mut(at) {
                Some((known, last)) => {
                    if **known != **axis {
                        *known = axis.as_str().into();
                    }
                    if !is_written_the_same(last, &value.value) {
                        *last = Arc::new(value.value.clone());
                    }
                }
                None => self.cell.push((axis.as_str().into(), Arc::new(value.value.clone()))),
            }
        }
        self.cell.iter().cloned().collect()
    }
}

impl Lowered {
    /// Lowers the media of an instance; nothing where that finds a problem.
    fn new<'w>(
        model: &'w Model,
        fields: &[Ingredient<'w>],
        names: &Arc<[Arc<str>]>,
        values: &[Arc<Value>],
        media: &[Put],
        work: &Work<'_, 'w>,
        cx: &Cx<'w>,
    ) -> Option<Self> {
        let mut making = Making::new(work, model);
        for (name, value) in names.iter().zip(values) {
            making.request.insert(name.to_string(), Value::clone(value));
            let set = fields.iter().find(|field| field.name == *name)?;
            making.origins.fields.push((set.entry, set.from_defaults));
        }
        let mut tally = Tally::default();
        request::lower(&mut making, cx, &mut tally);
        if !tally.is_empty() {
            return None;
        }
        let whole = check::whole(&making);
        let mut longer = names.to_vec();
        let mut changed = Vec::new();
        for (at, (name, sent)) in making.request.iter().enumerate() {
            let before = values.get(at);
            if before.is_some_and(|before| is_written_the_same(before, sent)) {
                continue;
            }
            if before.is_none() {
                longer.push(name.as_str().into());
            }
            changed.push(Changed {
                at,
                before: before.cloned(),
                sent: Arc::new(sent.clone()),
                whole: Arc::new(whole.get(name)?.clone()),
            });
        }
        Some(Self {
            asked: asked(media, work).map(|(slot, value)| (slot, value.clone())).collect(),
            continued: work.continued,
            names_before: Arc::clone(names),
            names: if longer.len() == names.len() { Arc::clone(names) } else { longer.into() },
            changed,
            pointers: making.inputs.into_iter().map(|input| input.pointer).collect(),
        })
    }

    /// Whether lowering these media into this request would come out the same.
    fn fits(
        &self,
        names: &Arc<[Arc<str>]>,
        values: &[Arc<Value>],
        media: &[Put],
        work: &Work<'_, '_>,
    ) -> bool {
        let same = |change: &Changed| match (&change.before, values.get(change.at)) {
            (Some(before), Some(now)) => is_written_the_same(before, now),
            (before, now) => before.is_none() && now.is_none(),
        };
        self.continued == work.continued
            && (Arc::ptr_eq(&self.names_before, names) || self.names_before == *names)
            && asked(media, work).eq(self.asked.iter().map(|(slot, value)| (*slot, value)))
            && self.changed.iter().all(same)
    }
}

/// What is asked for: the kinds of media, and the values that are known already.
fn asked<'a>(media: &'a [Put], work: &'a Work<'_, '_>) -> impl Iterator<Item = (Slot, &'a Value)> {
    work.frames.iter().map(|used| used.slot).zip(media.iter().map(|put| &put.value))
}

fn put(values: &mut Vec<Arc<Value>>, at: usize, value: &Arc<Value>) {
    match values.get_mut(at) {
        Some(place) => *place = Arc::clone(value),
        None => values.push(Arc::clone(value)),
    }
}

/// Whether nothing in a value is a template.
fn is_literal(value: &Yaml) -> bool {
    match &value.value {
        YamlValue::Text(text) => !has_template(text),
        YamlValue::List(items) => items.iter().all(is_literal),
        YamlValue::Map(entries) => entries.iter().all(|(_, value)| is_literal(value)),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => true,
    }
}
