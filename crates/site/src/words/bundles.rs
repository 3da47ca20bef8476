use std::borrow::Cow;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};

use super::{Language, Said};

/// The areas of `locales/`, one file each in every language.
macro_rules! areas {
    ($language:literal) => {
        [
            include_str!(concat!("../../locales/", $language, "/common.ftl")),
            include_str!(concat!("../../locales/", $language, "/run.ftl")),
            include_str!(concat!("../../locales/", $language, "/lists.ftl")),
            include_str!(concat!("../../locales/", $language, "/accounts.ftl")),
            include_str!(concat!("../../locales/", $language, "/guide.ftl")),
            include_str!(concat!("../../locales/", $language, "/api.ftl")),
        ]
    };
}

type Bundle = FluentBundle<FluentResource>;

static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::English, areas!("en")));
static CHINESE: LazyLock<Bundle> =
    LazyLock::new(|| bundle(Language::SimplifiedChinese, areas!("zh-CN")));

fn bundle(language: Language, sources: [&'static str; 6]) -> Bundle {
    let tag = language.code().parse().unwrap_or_default();
    let mut bundle = Bundle::new_concurrent(vec![tag]);
    // Pages are not bidirectional; the marks would stand in copied text.
    bundle.set_use_isolating(false);
    for source in sources {
        // What does not parse, or stands twice, is left out here and fails tests/words.rs.
        let resource = match FluentResource::try_new(source.to_owned()) {
            Ok(resource) | Err((resource, _)) => resource,
        };
        let _ = bundle.add_resource(resource);
    }
    bundle
}

/// The sentence called `key`; English where the language lacks it, the key itself
/// where no language has it. What holds no values is not copied.
pub(super) fn say(
    language: Language,
    key: &'static str,
    arguments: Option<&FluentArgs<'_>>,
) -> Said {
    let own: &'static Bundle = match language {
        Language::English => &ENGLISH,
        Language::SimplifiedChinese => &CHINESE,
    };
    [own, &*ENGLISH]
        .into_iter()
        .find_map(|bundle| {
            let pattern = bundle.get_message(key)?.value()?;
            // A value that is missing shows its name; tests/words.rs finds it.
            let mut errors = Vec::new();
            Some(bundle.format_pattern(pattern, arguments, &mut errors))
        })
        .unwrap_or(Cow::Borrowed(key))
}
