//! When a request is sent again, and after how long.

use std::time::{Duration, SystemTime};

use serde::Deserialize;

use crate::ProviderError;

/// How often and after what pauses a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retry {
    /// How often a request is sent in all; at least once.
    pub attempts: u32,
    /// The first pause in milliseconds; each later one is twice as long.
    pub first_pause_ms: u64,
    /// The longest pause of our own in milliseconds.
    pub longest_pause_ms: u64,
    /// The longest pause in seconds that a provider may ask for. Past it the request fails at
    /// once, and the error says how long.
    pub longest_asked_s: u64,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 5, first_pause_ms: 500, longest_pause_ms: 30_000, longest_asked_s: 120 }
    }
}

impl Retry {
    /// How long to wait before the next attempt after `failed` of them; none where there is to be
    /// none. `random` spreads the pauses of many clients.
    pub(crate) fn pause(
        &self,
        failed: u32,
        error: &ProviderError,
        random: u64,
    ) -> Option<Duration> {
        if failed >= self.attempts || !error.is_transient() {
            return None;
        }
        if let Some(asked) = error.retry_after() {
            return (asked <= Duration::from_secs(self.longest_asked_s)).then_some(asked);
        }
        let doubled = 1_u64.checked_shl(failed.saturating_sub(1)).unwrap_or(u64::MAX);
        let whole = self.first_pause_ms.saturating_mul(doubled).min(self.longest_pause_ms);
        let half = whole / 2;
        Some(Duration::from_millis(half + random % (whole - half + 1)))
    }
}

/// The pause that a response's headers ask for: `retry-after-ms`, or `retry-after` in seconds or
/// as a date.
pub(crate) fn asked<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: SystemTime,
) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| (0.0..1e9).contains(n));
    if let Some(ms) = header("retry-after-ms").and_then(number) {
        return Some(Duration::from_secs_f64(ms / 1000.0));
    }
    let after = header("retry-after")?;
    number(after).map(Duration::from_secs_f64).or_else(|| {
        let at = httpdate::parse_http_date(after.trim()).ok()?;
        Some(at.duration_since(now).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_are_spread_and_end() {
        let retry = Retry { attempts: 4, longest_pause_ms: 1500, ..Retry::default() };
        let pauses = |random| (1..=4).map(move |n| retry.pause(n, &ProviderError::Cut, random));
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(pauses(0).collect::<Vec<_>>(), [ms(250), ms(500), ms(750), None]);
        assert_eq!(pauses(250).collect::<Vec<_>>(), [ms(500), ms(750), ms(1000), None]);
        let error = ProviderError::NotFound { message: String::new() };
        assert_eq!(retry.pause(1, &error, 0), None);
    }

    #[test]
    fn what_a_provider_asks_for_is_kept_up_to_a_bound() {
        let error = |seconds| ProviderError::RateLimited {
            after: Some(Duration::from_secs(seconds)),
            message: "slow down".into(),
        };
        let retry = Retry::default();
        assert_eq!(retry.pause(1, &error(120), 9), Some(Duration::from_secs(120)));
        assert_eq!(retry.pause(1, &error(121), 9), None);
        assert!(error(121).to_string().ends_with("Prompt again in 121 s"), "{}", error(121));
    }

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let of = |name: &'static str, value: &'static str| {
            asked(move |asked| (asked == name).then_some(value), now)
        };
        assert_eq!(of("retry-after", "3"), Some(Duration::from_secs(3)));
        assert_eq!(of("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(of("retry-after-ms", "20"), Some(Duration::from_millis(20)));
        let date = "Sun, 06 Nov 1994 08:49:40 GMT";
        assert_eq!(of("retry-after", date), Some(Duration::from_secs(3)));
        assert_eq!(of("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        for bad in ["", "soon", "-1", "1e300", "NaN"] {
            assert_eq!(of("retry-after", bad), None, "{bad}");
        }
    }
}
