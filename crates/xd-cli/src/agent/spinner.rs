//! The moving end of the output: what is under way, for how long, at what cost.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use xd_agent::Usage;

/// Lines at the end of the terminal that are drawn over until they are done.
pub(crate) struct Spinner {
    bar: Option<ProgressBar>,
    begun: Instant,
    usage: Usage,
    note: &'static str,
}

impl Spinner {
    /// None is drawn yet; the time counts from now.
    pub(crate) fn new() -> Self {
        Self { bar: None, begun: Instant::now(), usage: Usage::default(), note: "" }
    }

    /// Draws `live` over the moving line; begins where nothing was drawn.
    pub(crate) fn draw(&mut self, live: &str) {
        let begun = self.begun;
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
            let bar = bar.with_elapsed(begun.elapsed());
            let style = ProgressStyle::with_template("{msg}{spinner} {elapsed}{prefix}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            bar.set_style(style.tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        bar.set_prefix(format!("{}{}", tokens(self.usage), self.note));
        bar.set_message(if live.is_empty() { String::new() } else { format!("{live}\n") });
    }

    /// Adds what a turn cost.
    pub(crate) fn spend(&mut self, usage: Usage) {
        self.usage.input += usage.input;
        self.usage.cached += usage.cached;
        self.usage.output += usage.output;
    }

    /// Says something behind the numbers from now on.
    pub(crate) fn note(&mut self, note: &'static str) {
        self.note = note;
        if let Some(bar) = &self.bar {
            bar.set_prefix(format!("{}{note}", tokens(self.usage)));
        }
    }

    /// Calls `print`, whose output goes above the moving lines.
    pub(crate) fn above<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the moving lines away.
    pub(crate) fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// What the run cost so far, in words; none where nobody said.
    pub(crate) fn cost(&self) -> Option<String> {
        let tokens = tokens(self.usage);
        let seconds = self.begun.elapsed().as_secs();
        (!tokens.is_empty()).then(|| format!("{seconds} s{tokens}"))
    }
}

/// `· 12.3k in (10.1k cached), 450 out`; empty where nothing was spent.
fn tokens(usage: Usage) -> String {
    let Usage { input, cached, output } = usage;
    if input + cached + output == 0 {
        return String::new();
    }
    let cached = match cached {
        0 => String::new(),
        n => format!(" ({} cached)", short(n)),
    };
    format!(" · {} in{cached}, {} out", short(input + usage.cached), short(output))
}

fn short(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..1_000_000 => format!("{}.{}k", n / 1_000, n % 1_000 / 100),
        _ => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_read_short() {
        let usage = |input, cached, output| tokens(Usage { input, cached, output });
        assert_eq!(usage(0, 0, 0), "");
        assert_eq!(usage(900, 0, 12), " · 900 in, 12 out");
        assert_eq!(usage(250, 12_100, 1_950), " · 12.3k in (12.1k cached), 1.9k out");
        assert_eq!(usage(2_500_000, 0, 0), " · 2.5M in, 0 out");
    }
}
