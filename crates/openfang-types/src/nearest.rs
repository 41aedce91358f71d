//! The name that was probably meant by a mistyped one.

/// The known name closest to `name`, unless it is too different: at most one change for every three characters.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let distance = |held: &str| strsim::damerau_levenshtein(held, name);
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    let closest = known.into_iter().filter(|held| *held != name).min_by_key(|held| distance(held))?;
    (distance(closest) <= allowed).then_some(closest)
}

#[cfg(test)]
#[path = "nearest_tests.rs"]
mod tests;
