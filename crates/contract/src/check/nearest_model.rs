//! The known model that an unknown id is likely to mean: one that begins with the same parts, because the family comes first in an id.

use std::cmp::Reverse;

use super::nearest::MAX_CHARS;

/// The model of the catalogue that an unknown id is likely to mean; `None` if none begins alike.
pub fn nearest_model<'a>(id: &str, models: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if id.chars().count() > MAX_CHARS {
        return None;
    }
    let nearest = models_nearest_first(id, models).into_iter().next()?;
    let (written, meant) = (parts(id), parts(nearest));
    let (written, meant) = (written.first()?, meant.first()?);
    (strsim::damerau_levenshtein(written, meant) <= written.chars().count() / 3).then_some(nearest)
}

/// The models of the catalogue, the ones most like an id first: those with the most equal parts at the beginning, then those with the fewest
/// differences.
pub(super) fn models_nearest_first<'a>(id: &str, models: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // The comparison is quadratic in the length, and the input is untrusted.
    let written = parts(&id.chars().take(MAX_CHARS).collect::<String>());
    let mut sorted: Vec<&str> = models.into_iter().collect();
    sorted.sort_by_cached_key(|model| {
        let model = parts(model);
        let prefix = written.iter().zip(&model).take_while(|(a, b)| a == b).count();
        (Reverse(prefix), strsim::damerau_levenshtein(&written.concat(), &model.concat()))
    });
    sorted
}

/// The parts of an id in lower case, without what separates them.
fn parts(id: &str) -> Vec<String> {
    let parts = id.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest_model;

    #[test]
    fn nearest_model_is_of_the_same_family_and_version() {
        let known = [
            "modela-video-2-0-260128",
            "modela-video-2-0-fast-260128",
            "modelb-video-480p",
            "modelb-video-720p",
            "modelb-video-1.5-preview-480p",
            "modelb-video-1.5-preview-720p",
        ];
        for (id, model) in [
            ("modela-video-2.0", Some("modela-video-2-0-260128")),
            ("modela-video-2-0", Some("modela-video-2-0-260128")),
            ("ModelA_Video_2_0", Some("modela-video-2-0-260128")),
            ("modelb-video-1.5-480p", Some("modelb-video-1.5-preview-480p")),
            ("modelb-video-1-5-preview-720p", Some("modelb-video-1.5-preview-720p")),
            ("modelb-video-1080p", Some("modelb-video-480p")),
            ("modelb-video-360p", Some("modelb-video-480p")),
            ("modella-video-2-0-260128", Some("modela-video-2-0-260128")),
            ("other-video-3", None),
            ("", None),
        ] {
            assert_eq!(nearest_model(id, known), model, "{id}");
        }
        assert_eq!(nearest_model(&"modela-".repeat(100_000), known), None);
    }
}
