//! The short way to the nodes of a shot's instances: what they have in common is made, and checked, once.
//!
//! Invariant: every request of every instance is checked against the contract. A node comes from here only if
//! [`Series::accepts`] takes its whole request, stand-ins included; where it does not, or anything else is out of order, the
//! instance takes the long way, [`request::node`], which looks at everything and reports what it finds.

use std::sync::Arc;

use contract::{Family, Field, Model, Series};
use serde_json::Value;

use super::dedup::DiagnosticDedup;
use super::frames::Slot;
use super::interner::Interner;
use super::lower::{self, Put};
use super::request::{self, InstanceCx, RequestBuilder};
use super::{ExpandCx, check, local_paths};
use crate::diagnostic::Problems;
use crate::plan::{Cell, Input, Location, Node, Request, json_text_eq};
use crate::syntax::{Entry, Workflow};
use crate::template::has_template;
use crate::yaml::{Yaml, YamlValue};

/// The names of a request's fields.
type Names = Arc<[Arc<str>]>;

/// The recipes of all shots, made when they are needed.
pub(super) struct Recipes<'w> {
    /// By the shot's position; a shot has one for each model that its instances use.
    shots: Vec<Vec<Recipe<'w>>>,
    /// By family: shots are much alike too.
    series: Vec<(Family, Series<'w>)>,
    common: Interner,
}

/// How the instances of a shot that use one model are made.
struct Recipe<'w> {
    model: &'w Model,
    /// What all nodes have in common.
    shot: Arc<str>,
    note: Option<Arc<str>>,
    model_id: Arc<str>,
    location: Location,
    /// The fields that are set, in the contract's order.
    fields: Vec<Ingredient<'w>>,
    /// Whether a problem is known already that all instances have.
    broken: bool,
    lowered: Option<Lowered>,
    /// The last instance's axes and field names, which are the next one's as a rule.
    cell: Vec<(Arc<str>, Arc<Value>)>,
    names: Names,
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
    names_before: Names,
    names: Names,
    changed: Vec<Changed>,
    /// The places of the inputs.
    pointers: Vec<String>,
}

/// A field that lowering changed or added.
struct Changed {
    index: usize,
    before: Option<Arc<Value>>,
    sent: Arc<Value>,
    /// With stand-ins for what is not known yet.
    whole: Arc<Value>,
}

/// A request whose media have still to be put in.
struct Unlowered<'a, 'w> {
    names: &'a Names,
    values: &'a [Arc<Value>],
    /// One for each of the instance's frames.
    media: &'a [Put],
    icx: &'a InstanceCx<'a, 'w>,
}

impl Unlowered<'_, '_> {
    /// What is asked for: the kinds of media, and the values that are known already.
    fn asked(&self) -> impl Iterator<Item = (Slot, &Value)> {
        self.icx.frames.iter().map(|used| used.slot).zip(self.media.iter().map(|put| &put.value))
    }
}

impl<'w> Recipes<'w> {
    pub(super) fn new(workflow: &'w Workflow) -> Self {
        Self {
            shots: workflow.shots.iter().map(|_| Vec::new()).collect(),
            series: Vec::new(),
            common: Interner::default(),
        }
    }

    /// The node of an instance; nothing where something keeps it from being made, which is reported.
    pub(super) fn node(
        &mut self,
        icx: &InstanceCx<'_, 'w>,
        cx: &ExpandCx<'w>,
        dedup: &mut DiagnosticDedup,
        problems: &mut Problems,
    ) -> Option<Node> {
        self.quick(icx, cx).or_else(|| request::node(icx, cx, dedup, problems))
    }

    fn quick(&mut self, icx: &InstanceCx<'_, 'w>, cx: &ExpandCx<'w>) -> Option<Node> {
        let known = &mut self.shots[icx.instance.shot];
        let (entry, _) = request::entry(icx, "model")?;
        let rendered;
        let id = match entry.value.text()? {
            text if has_template(text) => {
                rendered = cx.templates.json(&entry.value, &icx.scope, &mut Problems::default())?;
                rendered.as_str()?
            }
            text => text,
        };
        let index = known.iter().position(|recipe| &*recipe.model_id == id).unwrap_or(known.len());
        if index == known.len() {
            known.push(Recipe::new(icx, cx.contract.model(id)?, &mut self.common, cx));
        }
        let recipe = &mut known[index];
        let family = &recipe.model.family;
        let of_family =
            self.series.iter().position(|(known, _)| known == family).unwrap_or(self.series.len());
        if of_family == self.series.len() {
            self.series.push((family.clone(), cx.contract.series(family)));
        }
        recipe.node(icx, &mut self.series[of_family].1, &mut self.common, cx)
    }
}

impl<'w> Recipe<'w> {
    fn new(icx: &InstanceCx<'_, 'w>, model: &'w Model, common: &mut Interner, cx: &ExpandCx<'w>) -> Self {
        let shot = icx.expanded.shot;
        let mut fields = Vec::new();
        for field in cx.contract.fields(&model.family) {
            let Some((entry, from_defaults)) = request::entry(icx, &field.name) else { continue };
            let literal = is_literal(&entry.value);
            let value = literal.then(|| request::on_the_wire(entry.value.to_json(), field));
            if value.as_ref().is_some_and(Value::is_null) {
                continue;
            }
            let (name, last) = (common.word(&field.name), value.map(|value| common.value(value)));
            fields.push(Ingredient { field, name, entry, from_defaults, literal, last });
        }
        let unknown =
            shot.fields.iter().any(|entry| request::unknown_field(entry, Some(model), cx).is_some());
        let local =
            fields.iter().filter_map(|field| field.last.as_deref()).any(local_paths::looks_like_local_path);
        Self {
            model,
            shot: shot.id.value.as_str().into(),
            note: shot.note.as_ref().map(|note| note.value.as_str().into()),
            model_id: common.word(&model.id),
            location: cx.location(shot.id.span),
            fields,
            broken: unknown || local,
            lowered: None,
            cell: Vec::new(),
            names: Arc::default(),
        }
    }

    /// The node, where everything about it is in order.
    fn node(
        &mut self,
        icx: &InstanceCx<'_, 'w>,
        series: &mut Series<'w>,
        common: &mut Interner,
        cx: &ExpandCx<'w>,
    ) -> Option<Node> {
        if self.broken {
            return None;
        }
        let (mut names, mut values) = self.rendered(icx, common, cx)?;
        let mut inputs = Vec::new();
        let accepted = if icx.frames.is_empty() && !icx.continued {
            series.accepts(&names, &values)
        } else {
            let media: Option<Vec<Put>> =
                icx.frames.iter().map(|used| lower::medium(used, icx.resolver)).collect();
            let media = media?;
            let before = Unlowered { names: &names, values: &values, media: &media, icx };
            if !self.lowered.as_ref().is_some_and(|lowered| lowered.fits(&before)) {
                self.lowered = Lowered::new(&before, self, common, cx);
            }
            let lowered = self.lowered.as_ref()?;
            let mut whole = values.clone();
            for Changed { index, sent, whole: checked, .. } in &lowered.changed {
                put(&mut values, *index, sent);
                put(&mut whole, *index, checked);
            }
            let sources = media.into_iter().filter_map(|put| put.source);
            let pointers = lowered.pointers.iter().cloned();
            inputs.extend(pointers.zip(sources).map(|(pointer, source)| Input { pointer, source }));
            names = Arc::clone(&lowered.names);
            series.accepts(&names, &whole)
        };
        if !accepted {
            return None;
        }
        let mut trouble = Problems::default();
        let salt = request::salt(icx, cx, &mut trouble);
        if trouble.any() {
            return None;
        }
        let request = Request::new(names, values);
        Some(Node {
            name: icx.instance.name.clone(),
            shot: Arc::clone(&self.shot),
            cell: self.cell(icx),
            take: icx.instance.take,
            note: self.note.clone(),
            model: Arc::clone(&self.model_id),
            family: self.model.family.clone(),
            seconds: request::seconds(|name| request.get(name), &self.model.family, cx),
            request,
            inputs,
            salt,
            occurrence: 0,
            retry: icx.expanded.retry.attempts,
            retry_on: icx.expanded.retry.on,
            timeout: icx.expanded.timeout,
            location: self.location.clone(),
        })
    }

    /// The fields of an instance, before media are put in. A value that is the last instance's is shared with it.
    fn rendered(
        &mut self,
        icx: &InstanceCx<'_, 'w>,
        common: &mut Interner,
        cx: &ExpandCx<'w>,
    ) -> Option<(Names, Vec<Arc<Value>>)> {
        let mut names = Vec::with_capacity(self.fields.len());
        let mut values = Vec::with_capacity(self.fields.len() + 2);
        for ingredient in &mut self.fields {
            if !ingredient.literal {
                let value =
                    cx.templates.json(&ingredient.entry.value, &icx.scope, &mut Problems::default())?;
                let value = request::on_the_wire(value, ingredient.field);
                if value.is_null() {
                    continue;
                }
                if !ingredient.last.as_deref().is_some_and(|last| json_text_eq(last, &value)) {
                    if local_paths::looks_like_local_path(&value) {
                        return None;
                    }
                    ingredient.last = Some(Arc::new(value));
                }
            }
            names.push(&ingredient.name);
            values.extend(ingredient.last.clone());
        }
        if self.names.len() != names.len() || !self.names.iter().eq(names.iter().copied()) {
            self.names = common.list(names.into_iter().cloned().collect());
        }
        Some((Arc::clone(&self.names), values))
    }

    /// The cell, sharing what is the last instance's.
    fn cell(&mut self, icx: &InstanceCx<'_, 'w>) -> Cell {
        let values = &icx.cell.values;
        if self.cell.len() != values.len() {
            self.cell.clear();
        }
        for (index, (axis, value)) in values.iter().enumerate() {
            match self.cell.get_mut(index) {
                Some((known, last)) => {
                    if **known != **axis {
                        *known = axis.as_str().into();
                    }
                    if !json_text_eq(last, &value.value) {
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
        before: &Unlowered<'_, 'w>,
        recipe: &Recipe<'w>,
        common: &mut Interner,
        cx: &ExpandCx<'w>,
    ) -> Option<Self> {
        let Unlowered { names, values, icx, .. } = *before;
        let mut builder = RequestBuilder::new(icx, recipe.model);
        for (name, value) in names.iter().zip(values) {
            builder.request.insert(name.to_string(), Value::clone(value));
            let set = recipe.fields.iter().find(|field| field.name == *name)?;
            builder.provenance.fields.push((set.entry, set.from_defaults));
        }
        let mut dedup = DiagnosticDedup::default();
        request::lower(&mut builder, cx, &mut dedup);
        if !dedup.is_empty() {
            return None;
        }
        let whole = check::whole(&builder);
        let mut longer = names.to_vec();
        let mut changed = Vec::new();
        for (index, (name, sent)) in builder.request.iter().enumerate() {
            let unchanged = values.get(index);
            if unchanged.is_some_and(|value| json_text_eq(value, sent)) {
                continue;
            }
            if unchanged.is_none() {
                longer.push(common.word(name));
            }
            changed.push(Changed {
                index,
                before: unchanged.cloned(),
                sent: common.value(sent.clone()),
                whole: common.value(whole.get(name)?.clone()),
            });
        }
        Some(Self {
            asked: before.asked().map(|(slot, value)| (slot, value.clone())).collect(),
            continued: icx.continued,
            names_before: Arc::clone(names),
            names: common.list(longer),
            changed,
            pointers: builder.inputs.into_iter().map(|input| input.pointer).collect(),
        })
    }

    /// Whether lowering these media into this request would come out the same.
    fn fits(&self, before: &Unlowered<'_, '_>) -> bool {
        let Unlowered { names, values, icx, .. } = *before;
        let same = |change: &Changed| match (&change.before, values.get(change.index)) {
            (Some(before), Some(now)) => json_text_eq(before, now),
            (before, now) => before.is_none() && now.is_none(),
        };
        self.continued == icx.continued
            && (Arc::ptr_eq(&self.names_before, names) || self.names_before == *names)
            && before.asked().eq(self.asked.iter().map(|(slot, value)| (*slot, value)))
            && self.changed.iter().all(same)
    }
}

fn put(values: &mut Vec<Arc<Value>>, index: usize, value: &Arc<Value>) {
    match values.get_mut(index) {
        Some(location) => *location = Arc::clone(value),
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
