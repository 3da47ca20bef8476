//! How figures are written: the same on pages, in the terminal and in messages.

/// What stands where nothing was measured.
pub const NOTHING: &str = "—";

/// From here on tok/s is written in thousands, as `18.5K`.
const THOUSANDS_FROM: f64 = 10_000.0;

/// Room for nearly every figure with its unit, so that writing one allocates once.
const USUAL_LENGTH: usize = 16;

/// A whole number with separators: `14,612`.
#[must_use]
pub fn count(value: u64) -> String {
    written(|text| push_count(text, value))
}

/// One decimal with separators: `1,037.5`.
#[must_use]
pub fn one_decimal(value: f64) -> String {
    written(|text| push_one_decimal(text, value))
}

/// One decimal where it says something: `384`, `15.6`.
#[must_use]
pub fn short_decimal(value: f64) -> String {
    written(|text| push_short_decimal(text, value))
}

/// tok/s as in the tables: `18.5K`, `12K`, `1,037.5`, `8,174.0`.
#[must_use]
pub fn tok_s(value: f64) -> String {
    written(|text| {
        if is_in_thousands(value) {
            push_thousands(text, value);
        } else {
            push_one_decimal(text, value);
        }
    })
}

/// Prefill tok/s as in the chart: `18.5K`, `8,174`.
#[must_use]
pub fn tok_s_chart(value: f64) -> String {
    written(|text| {
        if is_in_thousands(value) {
            push_thousands(text, value);
        } else {
            push_whole(text, value);
        }
    })
}

/// TTFT: `1,674 ms`.
#[must_use]
pub fn ttft_ms(value: f64) -> String {
    written(|text| {
        push_whole(text, value);
        text.push_str(" ms");
    })
}

/// Time between tokens: `6.3 ms`.
#[must_use]
pub fn tbt_ms(value: f64) -> String {
    written(|text| {
        push_one_decimal(text, value);
        text.push_str(" ms");
    })
}

/// Length of a window: `30.0 s`.
#[must_use]
pub fn seconds(value: f64) -> String {
    written(|text| {
        push_one_decimal(text, value);
        text.push_str(" s");
    })
}

fn written(write: impl FnOnce(&mut String)) -> String {
    let mut text = String::with_capacity(USUAL_LENGTH);
    write(&mut text);
    text
}

fn push_count(text: &mut String, value: u64) {
    if value >= 1000 {
        push_count(text, value / 1000);
        text.push(',');
        push_digit(text, value / 100 % 10);
        push_digit(text, value / 10 % 10);
    } else {
        if value >= 100 {
            push_digit(text, value / 100);
        }
        if value >= 10 {
            push_digit(text, value / 10 % 10);
        }
    }
    push_digit(text, value % 10);
}

fn push_digits(text: &mut String, value: u64) {
    if value >= 10 {
        push_digits(text, value / 10);
    }
    push_digit(text, value % 10);
}

fn push_digit(text: &mut String, digit: u64) {
    text.push(char::from(b'0' + digit as u8));
}

fn push_one_decimal(text: &mut String, value: f64) {
    if !value.is_finite() {
        text.push_str(NOTHING);
        return;
    }
    let tenths = (value.abs() * 10.0).round() as u64;
    if value < 0.0 && tenths > 0 {
        text.push('-');
    }
    push_count(text, tenths / 10);
    text.push('.');
    push_digit(text, tenths % 10);
}

fn push_short_decimal(text: &mut String, value: f64) {
    push_one_decimal(text, value);
    if text.ends_with(".0") {
        text.truncate(text.len() - ".0".len());
    }
}

fn is_in_thousands(value: f64) -> bool {
    // 9,999.96 would print as 10,000.0: what prints as 10,000 is written in thousands.
    value.is_finite() && (value * 10.0).round() / 10.0 >= THOUSANDS_FROM
}

fn push_thousands(text: &mut String, value: f64) {
    push_short_decimal(text, value / 1000.0);
    text.push('K');
}

fn push_whole(text: &mut String, value: f64) {
    if value.is_finite() && value >= 0.0 {
        push_count(text, value.round() as u64);
    } else {
        text.push_str(NOTHING);
    }
}

/// A context as its label: `8K`, `1019K`; tokens where it is no whole K.
#[must_use]
pub fn context(tokens: u64) -> String {
    written(|text| {
        if tokens.is_multiple_of(1024) {
            push_digits(text, tokens / 1024);
            text.push('K');
        } else {
            push_count(text, tokens);
        }
    })
}

/// GB without needless decimals: `384 GB`, `15.6 GB`.
#[must_use]
pub fn gigabytes(value: f64) -> String {
    format!("{} GB", short_decimal(value))
}

/// An optional figure, or `—`.
#[must_use]
pub fn or_nothing<T>(value: Option<T>, write: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_on_the_seed_pages() {
        assert_eq!(tok_s(18_500.0), "18.5K");
        assert_eq!(tok_s(12_000.0), "12K");
        assert_eq!(tok_s(8174.0), "8,174.0");
        assert_eq!(tok_s_chart(8174.0), "8,174");
        assert_eq!(tok_s(1037.5), "1,037.5");
        assert_eq!(tok_s(153.7), "153.7");
        assert_eq!(ttft_ms(1674.0), "1,674 ms");
        assert_eq!(tbt_ms(6.3), "6.3 ms");
        assert_eq!(count(14_612), "14,612");
        assert_eq!(count(1_000_007), "1,000,007");
        assert_eq!([0, 7, 42, 999].map(count), ["0", "7", "42", "999"]);
        assert_eq!(seconds(29.9), "29.9 s");
        assert_eq!(context(1_043_456), "1019K");
        assert_eq!(context(8192), "8K");
        assert_eq!(context(1000), "1,000");
        assert_eq!(gigabytes(384.0), "384 GB");
    }

    #[test]
    fn what_rounds_to_ten_thousand_is_written_in_thousands() {
        assert_eq!(tok_s(9_999.96), "10K");
        assert_eq!(tok_s(9_999.94), "9,999.9");
    }
}
