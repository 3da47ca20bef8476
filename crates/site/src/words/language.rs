use std::fmt;

/// A language of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Language {
    /// English, the language of the glossary.
    #[default]
    English,
    /// 简体中文
    SimplifiedChinese,
}

impl Language {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Language; 2] = [Language::English, Language::SimplifiedChinese];

    /// BCP 47, as it stands in `lang=`, in the cookie and in the URL.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::SimplifiedChinese => "zh-CN",
        }
    }

    /// What its speakers call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Language::English => "English",
            Language::SimplifiedChinese => "简体中文",
        }
    }

    /// The language with this code; any kind of Chinese finds the one that is spoken here.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Language> {
        let primary = code.split(['-', '_']).next().unwrap_or(code);
        match primary.to_ascii_lowercase().as_str() {
            "en" => Some(Language::English),
            "zh" => Some(Language::SimplifiedChinese),
            _ => None,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
