//! The characters of a workflow as templates see them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use minijinja::value::{Enumerator, Object, ObjectRepr, Value};

/// The name of the variable that holds the characters.
pub(crate) const CAST: &str = "cast";

/// What templates and prompts may say of a character.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CharacterText {
    pub(crate) description: Arc<str>,
    /// How the character sounds, where that is text.
    pub(crate) voice: Option<Arc<str>>,
}

/// Which characters templates have named, by index.
#[derive(Debug)]
pub(crate) struct CastUses {
    characters: Box<[CharacterUses]>,
}

#[derive(Debug, Default)]
struct CharacterUses {
    /// Since [`Uses::clear`].
    description: AtomicBool,
    /// Since [`Uses::clear`].
    voice: AtomicBool,
    ever: AtomicBool,
}

impl CastUses {
    pub(crate) fn new(characters: usize) -> Self {
        Self { characters: (0..characters).map(|_| CharacterUses::default()).collect() }
    }

    /// Forgets which texts were named; not whether a character ever was.
    pub(crate) fn clear(&self) {
        for uses in &self.characters {
            uses.description.store(false, Ordering::Relaxed);
            uses.voice.store(false, Ordering::Relaxed);
        }
    }

    /// Whether the description of a character was named since [`Self::clear`].
    pub(crate) fn names_description(&self, index: usize) -> bool {
        self.characters.get(index).is_some_and(|uses| uses.description.load(Ordering::Relaxed))
    }

    /// Whether the voice of a character was named since [`Self::clear`].
    pub(crate) fn names_voice(&self, index: usize) -> bool {
        self.characters.get(index).is_some_and(|uses| uses.voice.load(Ordering::Relaxed))
    }

    /// Whether a character was ever named.
    pub(crate) fn was_named(&self, index: usize) -> bool {
        self.characters.get(index).is_some_and(|uses| uses.ever.load(Ordering::Relaxed))
    }
}

/// All characters by their names.
#[derive(Debug)]
pub(crate) struct CastValue {
    pub(crate) names: Arc<[Arc<str>]>,
    /// By character; `None` where no template of the shot names a character.
    pub(crate) texts: Arc<[Option<Arc<CharacterText>>]>,
    pub(crate) uses: Arc<CastUses>,
}

impl Object for CastValue {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let name = key.as_str()?;
        let index = self.names.iter().position(|candidate| **candidate == *name)?;
        let text = Arc::clone(self.texts.get(index)?.as_ref()?);
        let uses = Arc::clone(&self.uses);
        uses.characters[index].ever.store(true, Ordering::Relaxed);
        Some(Value::from_object(CharacterValue { index, text, uses }))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.names.iter().map(|name| Value::from(&**name)).collect())
    }
}

/// A character: written as its description.
#[derive(Debug)]
struct CharacterValue {
    index: usize,
    text: Arc<CharacterText>,
    uses: Arc<CastUses>,
}

impl CharacterValue {
    fn description(&self) -> &Arc<str> {
        self.uses.characters[self.index].description.store(true, Ordering::Relaxed);
        &self.text.description
    }
}

impl Object for CharacterValue {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str()? {
            "description" => Some(Value::from(Arc::clone(self.description()))),
            "voice" => {
                let voice = self.text.voice.clone()?;
                self.uses.characters[self.index].voice.store(true, Ordering::Relaxed);
                Some(Value::from(voice))
            }
            _ => None,
        }
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description())
    }
}
