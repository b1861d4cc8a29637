//! The closed list of templates and their built-in sources.

/// The name of a template. The list is closed: a host replaces templates, it adds none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PromptName {
    /// `resolve-reminder`, with [`ResolveReminder`](crate::ResolveReminder).
    ResolveReminder,
    /// `resolve-reminder-hidden-tool`, with
    /// [`ResolveReminderHiddenTool`](crate::ResolveReminderHiddenTool).
    ResolveReminderHiddenTool,
    /// `device-section`, with [`DeviceSection`](crate::DeviceSection).
    DeviceSection,
    /// `plan-mode`, with [`PlanMode`](crate::PlanMode).
    PlanMode,
    /// `device-docs`, with [`DeviceDocs`](crate::DeviceDocs).
    DeviceDocs,
    /// `protocol-usage`, with [`ProtocolUsage`](crate::ProtocolUsage).
    ProtocolUsage,
}

impl PromptName {
    /// Every template, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::ResolveReminder,
        Self::ResolveReminderHiddenTool,
        Self::DeviceSection,
        Self::PlanMode,
        Self::DeviceDocs,
        Self::ProtocolUsage,
    ];

    /// The name as overrides spell it, without a file ending: `resolve-reminder`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ResolveReminder => "resolve-reminder",
            Self::ResolveReminderHiddenTool => "resolve-reminder-hidden-tool",
            Self::DeviceSection => "device-section",
            Self::PlanMode => "plan-mode",
            Self::DeviceDocs => "device-docs",
            Self::ProtocolUsage => "protocol-usage",
        }
    }

    /// The built-in source, a good start for an override.
    #[must_use]
    pub const fn source(self) -> &'static str {
        match self {
            Self::ResolveReminder => include_str!("../templates/resolve-reminder.md.j2"),
            Self::ResolveReminderHiddenTool => {
                include_str!("../templates/resolve-reminder-hidden-tool.md.j2")
            }
            Self::DeviceSection => include_str!("../templates/device-section.md.j2"),
            Self::PlanMode => include_str!("../templates/plan-mode.md.j2"),
            Self::DeviceDocs => include_str!("../templates/device-docs.md.j2"),
            Self::ProtocolUsage => include_str!("../templates/protocol-usage.md.j2"),
        }
    }

    /// The template called `name`, if there is one. Letter case counts.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

impl std::fmt::Display for PromptName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
