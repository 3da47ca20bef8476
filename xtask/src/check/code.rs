use proc_macro2::{Delimiter, LexError, LineColumn, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Item, Meta};

use super::tree::TextFile;

/// A Rust file taken apart: its tokens outside tests, and its comments.
pub struct Code {
    /// Tokens outside tests and doc comments, in order; groups are laid flat.
    pub tokens: Vec<Token>,
    /// Comments that are no doc comments, tests' included.
    pub comments: Vec<Comment>,
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// An identifier, a literal as written, one punctuation mark or one bracket.
    pub text: String,
    /// The text a string literal stands for.
    pub string: Option<String>,
    /// Line, from 1.
    pub line: usize,
}

/// The comment text between two tokens, one entry a line, without the marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The line's text after `//`, or inside `/* */`.
    pub text: String,
    /// Line, from 1.
    pub line: usize,
}

impl Code {
    /// Takes a file apart.
    ///
    /// # Errors
    /// The file is not Rust.
    pub fn read(file: &TextFile) -> syn::Result<Code> {
        let whole: TokenStream = file
            .text
            .parse()
            .map_err(|error: LexError| syn::Error::new(error.span(), error))?;
        let mut tokens = Vec::new();
        if !file.is_test_code() {
            let mut parsed: syn::File = syn::parse2(whole.clone())?;
            Outside.visit_file_mut(&mut parsed);
            lay_flat(parsed.into_token_stream(), &mut tokens);
        }
        Ok(Code {
            tokens,
            comments: comments(&file.text, whole),
        })
    }
}

/// Removes test items and doc comments.
struct Outside;

impl VisitMut for Outside {
    fn visit_file_mut(&mut self, file: &mut syn::File) {
        file.items.retain(|item| !is_test(item));
        visit_mut::visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| !is_test(item));
        }
        visit_mut::visit_item_mod_mut(self, module);
    }

    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        attributes.retain(|attribute| !attribute.path().is_ident("doc"));
    }
}

fn is_test(item: &Item) -> bool {
    let attributes = match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::ExternCrate(_)
        | Item::ForeignMod(_)
        | Item::TraitAlias(_)
        | Item::Union(_)
        | Item::Verbatim(_)
        | _ => return false,
    };
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        Meta::NameValue(_) => false,
    })
}

fn lay_flat(stream: TokenStream, into: &mut Vec<Token>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                push(into, open, group.span_open());
                lay_flat(group.stream(), into);
                push(into, close, group.span_close());
            }
            TokenTree::Literal(literal) => {
                let string = syn::parse_str::<syn::LitStr>(&literal.to_string())
                    .ok()
                    .map(|string| string.value());
                into.push(Token {
                    text: literal.to_string(),
                    string,
                    line: literal.span().start().line,
                });
            }
            TokenTree::Ident(ident) => push(into, &ident.to_string(), ident.span()),
            TokenTree::Punct(punct) => push(into, &punct.as_char().to_string(), punct.span()),
        }
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

fn push(into: &mut Vec<Token>, text: &str, span: Span) {
    if !text.is_empty() {
        into.push(Token {
            text: text.to_owned(),
            string: None,
            line: span.start().line,
        });
    }
}

/// Comments are what stands between tokens and is no white space. Doc comments
/// are tokens.
fn comments(text: &str, whole: TokenStream) -> Vec<Comment> {
    let lines: Vec<&str> = text.lines().collect();
    let mut edges = Vec::new();
    collect_edges(whole, &mut edges);
    edges.sort_by_key(|(start, _)| *start);
    let mut comments = Vec::new();
    let mut from = LineColumn { line: 1, column: 0 };
    for (start, end) in edges {
        between(&lines, from, Some(start), &mut comments);
        from = from.max(end);
    }
    between(&lines, from, None, &mut comments);
    comments
}

fn collect_edges(stream: TokenStream, into: &mut Vec<(LineColumn, LineColumn)>) {
    let mut add = |span: Span| into.push((span.start(), span.end()));
    let mut inner = Vec::new();
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                add(group.span_open());
                add(group.span_close());
                inner.push(group.stream());
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => add(tree.span()),
        }
    }
    for stream in inner {
        collect_edges(stream, into);
    }
}

fn between(lines: &[&str], from: LineColumn, to: Option<LineColumn>, into: &mut Vec<Comment>) {
    let last = to.map_or(lines.len(), |to| to.line);
    for line in from.line..=last {
        let Some(text) = lines.get(line - 1) else {
            continue;
        };
        let skip = if line == from.line { from.column } else { 0 };
        let until = match to {
            Some(to) if to.line == line => to.column,
            Some(_) | None => text.chars().count(),
        };
        let gap: String = text.chars().take(until).skip(skip).collect();
        let comment = gap.trim();
        let comment = comment
            .strip_prefix("//")
            .or_else(|| comment.strip_prefix("/*"))
            .unwrap_or(comment);
        let comment = comment.strip_suffix("*/").unwrap_or(comment);
        if !comment.trim().is_empty() {
            into.push(Comment {
                text: comment.trim().to_owned(),
                line,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Code {
        Code::read(&TextFile {
            path: "crates/wire/src/lib.rs".to_owned(),
            text: text.to_owned(),
            is_test_module: false,
        })
        .expect("Rust")
    }

    #[test]
    fn tests_and_docs_are_not_in_the_tokens() {
        let code = read(
            "/// Doc.\nfn kept() {}\n#[cfg(test)]\nmod tests { fn gone() {} }\n\
             mod inner { #[cfg(test)] fn gone() {} #[test] fn gone() {} fn kept() {} }",
        );
        let words: Vec<&str> = code.tokens.iter().map(|t| t.text.as_str()).collect();
        assert!(!words.contains(&"gone"), "{words:?}");
        assert!(!words.contains(&"doc"), "{words:?}");
        assert_eq!(words.iter().filter(|word| **word == "kept").count(), 2);
    }

    #[test]
    fn tokens_keep_their_lines_and_string_values() {
        let code = read("fn f() -> &'static str {\n    \"a\\n\"\n}");
        let literal = code.tokens.iter().find(|t| t.string.is_some());
        let literal = literal.expect("a string");
        assert_eq!(literal.string.as_deref(), Some("a\n"));
        assert_eq!(literal.line, 2);
    }

    #[test]
    fn comments_are_found_between_tokens_and_not_in_strings() {
        let code = read(
            "// é first\nfn f() { // second\n    g(\"http://no\"); /* third\n fourth */\n}\n// last",
        );
        let found: Vec<(usize, &str)> = code
            .comments
            .iter()
            .map(|comment| (comment.line, comment.text.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                (1, "é first"),
                (2, "second"),
                (3, "third"),
                (4, "fourth"),
                (6, "last")
            ]
        );
    }
}
