//! [`PromptReading`]: what a renderer takes from a prompt.

/// The words of a prompt that are drawn, and those that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptReading {
    /// Phrases that choose place, time, weather, subjects, style or camera, in their order.
    pub read: Vec<ReadPhrase>,
    /// Words without effect, each once, in their order. Function words are left out, and what is denied ("no fog").
    pub unread: Vec<String>,
}

/// A phrase of a prompt with its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPhrase {
    /// As in the prompt.
    pub text: String,
    /// What it stands for, such as `place:sea`; `?` marks a hint, which counts less.
    pub meaning: String,
}
