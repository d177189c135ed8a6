//! What an instance's request says: the runner's words and the service's own fields, as the file has them.

use std::sync::Arc;

use contract::{Contract, Model, Placement, Word};
use serde_json::Value;

use super::interner::Interner;
use super::request_builder::RequestBuilder;
use crate::plan::Said;

/// Where the requests to a model have what.
pub(super) struct Places {
    /// Words by the pointers of their values. What is put into a list is known from its lowering.
    words: Vec<(String, Word)>,
    /// The pointers of fields whose values are not stored.
    private: Vec<String>,
    /// The field with the model's id, which is no part of what is said.
    model: Option<String>,
}

impl Places {
    pub(super) fn new(contract: &Contract, model: &Model) -> Self {
        let words = Word::ALL.into_iter().flat_map(|word| {
            let placement = model.inputs.get(word).filter(|placement| !placement.is_list());
            let places = placement.into_iter().flat_map(Placement::places);
            places.map(move |at| (at.as_str().to_owned(), word))
        });
        let private = contract.fields(&model.family).iter().filter(|field| field.is_private);
        Self {
            words: words.collect(),
            private: private.map(|field| field.at.as_str().to_owned()).collect(),
            model: contract.model_place().map(|at| at.as_str().to_owned()),
        }
    }

    fn word(&self, pointer: &str) -> Option<Word> {
        self.words.iter().find(|(at, _)| at == pointer).map(|(_, word)| *word)
    }
}

/// What a request says. `last` is that of the last instance, which is shared if this one says the same.
pub(super) fn said(
    builder: &RequestBuilder<'_, '_>,
    places: &Places,
    last: &mut Arc<[Said]>,
    interner: &mut Interner,
) {
    let mut said = Collector { places, builder, said: Vec::new() };
    for field in &builder.fields {
        if let Some(own) = &field.own {
            said.add(own, format!("/{}", contract::escape(&field.name)));
        }
    }
    let media = builder.said.iter().map(|(word, at)| (*word, at.to_string()));
    let all: Vec<(Option<Word>, String)> = said.said.into_iter().chain(media).collect();
    let is_last =
        |(said, (word, at)): (&Said, &(Option<Word>, String))| said.word == *word && *said.at == **at;
    if last.len() == all.len() && last.iter().zip(&all).all(is_last) {
        return;
    }
    let all = all.into_iter().map(|(word, at)| Said {
        word,
        is_private: places.private.contains(&at),
        at: interner.name(&at),
    });
    let all = all.collect();
    *last = interner.said(all);
}

struct Collector<'b, 'a, 'w> {
    places: &'b Places,
    builder: &'b RequestBuilder<'a, 'w>,
    said: Vec<(Option<Word>, String)>,
}

impl Collector<'_, '_, '_> {
    /// A value that the file has at a pointer: as a whole, or by its parts, where some of them are words or something was lowered beside them.
    fn add(&mut self, own: &Value, pointer: String) {
        if self.places.model.as_ref() == Some(&pointer) || own.is_null() {
            return;
        }
        match self.places.word(&pointer) {
            Some(Word::ReturnLastFrame) => {}
            Some(word) => self.said.push((Some(word), pointer)),
            None if !self.is_divided(&pointer) => self.said.push((None, pointer)),
            None => match own {
                Value::Object(members) => {
                    for (name, member) in members {
                        self.add(member, format!("{pointer}/{}", contract::escape(name)));
                    }
                }
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        self.add(item, format!("{pointer}/{index}"));
                    }
                }
                _ => self.said.push((None, pointer)),
            },
        }
    }

    fn is_divided(&self, pointer: &str) -> bool {
        let is_below = |at: &str| at.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'));
        let placed = self.builder.placed.iter().filter_map(|placed| placed.pointer.as_deref());
        self.places.words.iter().any(|(at, _)| is_below(at))
            || self.builder.lowered.iter().any(|part| is_below(&part.pointer))
            || placed.into_iter().any(is_below)
    }
}
