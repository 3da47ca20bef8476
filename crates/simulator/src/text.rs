//! What the simulated model writes: words that vary, one token each.

/// Words of at most eleven letters, so that each is one token with its space.
const WORDS: &[&str] = &[
    "the", "of", "and", "to", "in", "is", "that", "it", "was", "for", "on", "are", "as", "with",
    "his", "they", "at", "be", "this", "have", "from", "or", "had", "by", "word", "but", "what",
    "some", "we", "can", "out", "other", "were", "all", "there", "when", "up", "use", "your",
    "how", "said", "an", "each", "she", "which", "do", "their", "time", "if", "will", "way",
    "about", "many", "then", "them", "write", "would", "like", "so", "these", "her", "long",
    "make", "thing", "see", "him", "two", "has", "look", "more", "day", "could", "go", "come",
    "did", "number", "sound", "no", "most", "people", "my", "over", "know", "water", "than",
    "call", "first", "who", "may", "down", "side", "been", "now", "find", "any", "new", "work",
    "part", "take", "get", "place", "made", "live", "where", "after", "back", "little", "only",
    "round", "man", "year", "came", "show", "every", "good", "me", "give", "our", "under", "name",
    "very", "through", "just", "form", "sentence", "great", "think", "say", "help", "low", "line",
    "differ", "turn", "cause", "much", "mean", "before", "move", "right", "boy", "old", "too",
    "same", "tell", "does", "set", "three", "want", "air", "well", "also", "play", "small", "end",
    "put", "home", "read", "hand", "port", "large", "spell", "add", "even", "land", "here", "must",
    "big", "high", "such", "follow", "act", "why", "ask", "men", "change", "went", "light", "kind",
    "off", "need", "house", "picture", "try", "us", "again", "animal", "point", "mother", "world",
    "near", "build", "self", "earth", "father", "head", "stand", "own", "page", "should",
    "country", "found", "answer", "school", "grow", "study", "still", "learn", "plant", "cover",
    "food", "sun", "four", "between", "state", "keep", "eye", "never", "last", "let", "thought",
    "city", "tree", "cross", "farm", "hard", "start", "might", "story", "saw", "far", "sea",
    "draw", "left", "late", "run", "while", "press", "close", "night", "real", "life", "few",
    "north", "open", "seem", "together", "next", "white", "children", "begin", "got", "walk",
    "example", "ease", "paper", "group", "always", "music", "those", "both", "mark", "often",
    "letter", "until", "mile", "river", "car", "feet", "care", "second", "book", "carry", "took",
    "science", "eat", "room", "friend", "began", "idea", "fish", "mountain", "stop", "once",
    "base", "hear", "horse", "cut", "sure", "watch", "color", "face", "wood", "main", "enough",
    "plain", "girl", "usual", "young", "ready", "above", "ever", "red", "list", "though", "feel",
    "talk", "bird", "soon", "body", "dog", "family", "direct", "pose", "leave", "song", "measure",
    "door", "product", "black", "short", "numeral", "class", "wind", "question", "happen",
    "complete", "ship", "area", "half", "rock", "order", "fire", "south", "problem", "piece",
    "told", "knew", "pass", "since", "top", "whole", "king", "space", "heard", "best", "hour",
    "better", "true", "during", "hundred", "five", "remember", "step", "early", "hold", "west",
    "ground", "interest", "reach", "fast", "verb", "sing", "listen", "six", "table", "travel",
    "less", "morning", "ten", "simple", "several", "vowel", "toward", "war", "lay", "against",
    "pattern", "slow", "center", "love", "person", "money", "serve", "appear", "road", "map",
    "rain", "rule", "govern", "pull", "cold", "notice", "voice", "unit", "power", "town", "fine",
    "certain", "fly", "fall", "lead", "cry", "dark", "machine", "note", "wait", "plan", "figure",
    "star", "box", "noun", "field", "rest", "correct", "able", "pound", "done", "beauty", "drive",
    "stood", "contain", "front", "teach", "week", "final", "gave", "green", "oh", "quick",
    "develop", "ocean", "warm", "free", "minute", "strong", "special", "mind", "behind", "clear",
    "tail", "produce", "fact", "street", "inch", "multiply", "nothing", "course", "stay", "wheel",
    "full", "force", "blue", "object", "decide", "surface", "deep", "moon", "island", "foot",
    "system", "busy", "test", "record", "boat", "common", "gold", "possible", "plane", "stead",
    "dry", "wonder", "laugh", "thousand", "ago", "ran", "check", "game", "shape", "equate", "hot",
    "miss", "brought", "heat", "snow", "tire", "bring", "yes", "distant", "fill", "east", "paint",
    "language", "among",
];

/// Words beyond ASCII, for streams that are cut inside a character.
const MULTIBYTE_WORDS: &[&str] = &[
    "größe",
    "naïve",
    "数字",
    "東京",
    "улица",
    "città",
    "élan",
    "señor",
    "łódź",
    "ωmega",
    "🙂🙃",
];

/// Words of a looping answer before it starts over.
const LOOP_WORDS: u64 = 6;

/// What kind of text an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextKind {
    /// Varied words.
    #[default]
    Varied,
    /// The same few words over and over.
    Looping,
    /// Words with characters of two, three and four bytes.
    Multibyte,
}

/// The text of one answer.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    seed: u64,
    kind: TextKind,
}

impl Text {
    /// The answer a seed gives.
    #[must_use]
    pub fn new(seed: u64, kind: TextKind) -> Text {
        Text { seed, kind }
    }

    /// Appends token number `position`: a space and a word.
    pub fn append_token(&self, position: u64, to: &mut String) {
        let (words, position) = match self.kind {
            TextKind::Varied => (WORDS, position),
            TextKind::Looping => (WORDS, position % LOOP_WORDS),
            TextKind::Multibyte => (MULTIBYTE_WORDS, position),
        };
        let random = mix(self.seed ^ mix(position));
        to.push(' ');
        to.push_str(words[(random % words.len() as u64) as usize]);
    }
}

/// SplitMix64's finalizer: every bit of the input moves every bit of the output.
#[must_use]
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tokenize;

    fn answer(kind: TextKind, tokens: u64) -> String {
        let text = Text::new(7, kind);
        let mut written = String::new();
        for position in 0..tokens {
            text.append_token(position, &mut written);
        }
        written
    }

    #[test]
    fn the_tokenizer_agrees_with_what_was_written() {
        for kind in [TextKind::Varied, TextKind::Looping] {
            assert_eq!(tokenize(&answer(kind, 3000)).len(), 3000);
        }
    }

    #[test]
    fn varied_text_does_not_repeat_and_looping_text_does() {
        let varied = answer(TextKind::Varied, 400);
        let (first, second) = varied.split_at(varied.len() / 2);
        assert!(!first.contains(&second[..40]));
        let looping = answer(TextKind::Looping, 60);
        assert_eq!(looping.len() % 10, 0);
        assert!(looping.ends_with(&looping[..looping.len() / 10]));
    }
}
