/// What a name without a letter or digit of ASCII is called in URLs.
const UNNAMED: &str = "unnamed";
/// Longest slug before its number.
const SLUG_BYTES_MAX: usize = 100;

/// A name's place in a URL: lower-case letters and digits of ASCII, hyphens between.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() {
            slug.push(char::from(byte.to_ascii_lowercase()));
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(SLUG_BYTES_MAX);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { UNNAMED } else { slug }.to_owned()
}

/// `base`, or `base-2` and so on where that is taken.
pub(crate) fn free_slug(base: &str, taken: &[String]) -> String {
    let numbered = (2..=u64::MAX).map(|number| format!("{base}-{number}"));
    std::iter::once(base.to_owned())
        .chain(numbered)
        .find(|slug| !taken.contains(slug))
        .unwrap_or_else(|| base.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_lower_case_ascii_with_single_hyphens() {
        assert_eq!(
            slug("deepseek-ai/DeepSeek-V4.1-Flash"),
            "deepseek-ai-deepseek-v4-1-flash"
        );
        assert_eq!(slug("  RTX PRO™ 6000 (96 GB) "), "rtx-pro-6000-96-gb");
        assert_eq!(slug("模型"), "unnamed");
        assert_eq!(slug(&"a".repeat(1000)).len(), SLUG_BYTES_MAX);
    }

    #[test]
    fn a_taken_slug_gets_the_next_number() {
        let taken = ["m".to_owned(), "m-2".to_owned()];
        assert_eq!(free_slug("m", &[]), "m");
        assert_eq!(free_slug("m", &taken), "m-3");
    }
}
