//! WCAG AA of every colour of the style, in both schemes, computed from the style.

// A failed expectation is a failed test, in its helpers too.
#![allow(clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

/// WCAG 2.2, 1.4.3: text against its ground.
const TEXT: f64 = 4.5;
/// WCAG 2.2, 1.4.11: lines and points of a picture against their ground.
const PICTURE: f64 = 3.0;
/// Colour steps of a heat map.
const STEPS: usize = 9;
/// Colours of a chart's lines.
const LINES: usize = 8;

type Scheme = BTreeMap<String, [f64; 3]>;

/// The colours of the light and of the dark scheme.
fn schemes() -> [Scheme; 2] {
    let style = include_str!("../templates/style.css");
    let mut blocks = style.split(":root {").skip(1).map(|after| {
        let block = after.split('}').next().expect("an end");
        block
            .split(';')
            .filter_map(|declaration| declaration.split_once(": #"))
            .map(|(name, hex)| (name.trim().to_owned(), channels(hex)))
            .collect::<Scheme>()
    });
    let light = blocks.next().expect("the light scheme");
    let dark = blocks.next().expect("the dark scheme");
    assert_eq!(
        light.keys().collect::<Vec<_>>(),
        dark.keys().collect::<Vec<_>>()
    );
    [light, dark]
}

fn channels(hex: &str) -> [f64; 3] {
    assert_eq!(hex.len(), 6, "{hex}");
    [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")) / 255.0)
}

/// Relative luminance and contrast as WCAG 2.2 defines them.
fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let luminance = |colour: [f64; 3]| {
        let [r, g, b] = colour.map(|c| {
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn assert_contrast(scheme: &Scheme, ink: &str, ground: &str, least: f64) {
    let found = contrast(scheme[ink], scheme[ground]);
    assert!(found >= least, "{ink} on {ground}: {found:.2}");
}

#[test]
fn text_on_every_heat_step_keeps_aa_in_both_schemes() {
    for scheme in schemes() {
        for step in 0..STEPS {
            assert_contrast(&scheme, &format!("--t{step}"), &format!("--h{step}"), TEXT);
        }
    }
}

#[test]
fn every_ink_keeps_aa_on_every_ground_in_both_schemes() {
    for scheme in schemes() {
        for ink in ["--ink", "--muted", "--accent", "--warn", "--bad"] {
            for ground in ["--ground", "--soft"] {
                assert_contrast(&scheme, ink, ground, TEXT);
            }
        }
    }
}

#[test]
fn every_line_of_the_chart_stands_out_in_both_schemes() {
    for scheme in schemes() {
        for line in 0..LINES {
            assert_contrast(&scheme, &format!("--c{line}"), "--ground", PICTURE);
        }
    }
}

#[test]
fn heat_steps_grow_evenly_in_one_direction() {
    for scheme in schemes() {
        let grounds: Vec<f64> = (0..STEPS)
            .map(|step| contrast(scheme[&format!("--h{step}")], scheme["--ground"]))
            .collect();
        assert!(
            grounds.windows(2).all(|pair| pair[1] > pair[0]),
            "{grounds:?}"
        );
    }
}
