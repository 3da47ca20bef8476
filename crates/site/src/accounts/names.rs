use crate::words::{Said, Words};

/// Characters of a name that stands in addresses, at least.
const HANDLE_CHARS_MIN: usize = 2;
/// Characters of a name that stands in addresses, at most.
pub(super) const HANDLE_CHARS_MAX: usize = 39;
/// Characters of a password, at least.
const PASSWORD_CHARS_MIN: usize = 10;
/// Characters of a password, at most: more would only be work.
pub(super) const PASSWORD_CHARS_MAX: usize = 256;
/// Characters of a name that people read: a token's, an organization's.
pub(super) const TITLE_CHARS_MAX: usize = 80;
/// Characters of the reason for hiding a run.
pub(super) const REASON_CHARS_MAX: usize = 1000;

/// A name for addresses, in lower case: letters and digits of ASCII, and hyphens
/// inside. Names that only look alike cannot be made.
pub(super) fn handle(text: &str) -> Option<String> {
    let name = text.trim().to_ascii_lowercase();
    let is_inside = (HANDLE_CHARS_MIN..=HANDLE_CHARS_MAX).contains(&name.len());
    let is_plain = name
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    (is_inside && is_plain && !name.starts_with('-') && !name.ends_with('-')).then_some(name)
}

/// A name for addresses, made of any text: for who comes from an OpenID provider.
pub(super) fn handle_like(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let mut name = words.join("-");
    // Room for a number behind it.
    name.truncate(HANDLE_CHARS_MAX - 4);
    let name = name.trim_end_matches('-');
    if name.len() < HANDLE_CHARS_MIN {
        "person".to_owned()
    } else {
        name.to_owned()
    }
}

/// A name that people read, in one line.
pub(super) fn title(text: &str) -> Option<String> {
    let title = text.trim();
    let is_inside = (1..=TITLE_CHARS_MAX).contains(&title.chars().count());
    (is_inside && !title.chars().any(is_unseen)).then(|| title.to_owned())
}

/// Control characters, and those that turn the direction of what follows.
fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// What is wrong with a new password, if anything is.
pub(super) fn password_fault(words: Words, password: &str, again: &str) -> Option<Said> {
    let chars = password.chars().count();
    if chars < PASSWORD_CHARS_MIN {
        Some(words.t("account-password-short"))
    } else if chars > PASSWORD_CHARS_MAX {
        Some(words.t("account-password-long"))
    } else if password != again {
        Some(words.t("account-password-differs"))
    } else {
        None
    }
}

/// Where to go after signing in: a path of this site, never another site.
pub(super) fn local_path(next: &str) -> Option<&str> {
    let rest = next.strip_prefix('/')?;
    // Browsers read `//host` and `/\host` as another site, and drop tabs and line ends first.
    let is_local = !rest.starts_with(['/', '\\'])
        && !next.contains('\\')
        && next.bytes().all(|byte| byte.is_ascii_graphic());
    is_local.then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_plain_and_in_lower_case() {
        assert_eq!(handle(" Ada-99 ").as_deref(), Some("ada-99"));
        let long = "a".repeat(HANDLE_CHARS_MAX);
        assert_eq!(handle(&long).as_deref(), Some(long.as_str()));
        for refused in [
            "",
            "a",
            "-ada",
            "ada-",
            "a da",
            "аda",
            "ａｄａ",
            "ada\u{200b}",
            "ada\0",
            "ada/..",
            "a.b",
            &format!("{long}a"),
            "İstanbul",
            "名字",
        ] {
            assert_eq!(handle(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn any_text_becomes_a_handle() {
        for (text, name) in [
            ("Ada Lovelace", "ada-lovelace"),
            ("ada@example.org", "ada-example-org"),
            ("名字", "person"),
            ("", "person"),
            ("--x--", "person"),
        ] {
            assert_eq!(handle_like(text), name);
            assert_eq!(handle(name).as_deref(), Some(name));
        }
        assert!(handle(&format!("{}-999", handle_like(&"a-".repeat(100)))).is_some());
    }

    #[test]
    fn only_paths_of_this_site_are_gone_to() {
        for path in ["/", "/runs?model=a%20b", "/device?user_code=ABCD"] {
            assert_eq!(local_path(path), Some(path));
        }
        for path in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "/a\r\nSet-Cookie: x",
            "\\\\evil.example",
            "runs",
            "/ evil",
        ] {
            assert_eq!(local_path(path), None, "{path:?}");
        }
    }

    #[test]
    fn titles_are_one_visible_line() {
        assert_eq!(title(" 实验室 <b> ").as_deref(), Some("实验室 <b>"));
        for refused in ["", " ", "a\nb", "a\u{202e}b", "\u{200b}", &"x".repeat(81)] {
            assert_eq!(title(refused), None, "{refused:?}");
        }
    }
}
