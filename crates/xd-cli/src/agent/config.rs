//! Settings: from flags, the environment, the project's file, the user's file, in this order.

use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
};

use clap::ValueEnum as _;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use xd_agent::{
    CapabilityOverride,
    provider::{Effort, Retry, ThinkingSetting, Wire},
};

use super::arguments::{ApprovalMode, RunArguments};
use crate::failure::Failure;

/// The project's file, in the workspace.
pub(crate) const PROJECT_FILE: &str = ".xd.toml";

/// The environment, as a function so that tests bring their own.
pub(crate) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What a run goes by.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    /// As it was named, where it was.
    pub(crate) model: Option<String>,
    pub(crate) base_url: Option<String>,
    /// None where nobody said.
    pub(crate) approval: Option<ApprovalMode>,
    pub(crate) thinking: ThinkingSetting,
    pub(crate) max_turns: Option<u64>,
    pub(crate) stage_writes: bool,
    pub(crate) allow_bash: bool,
    /// Further variables that commands see.
    pub(crate) bash_env: Vec<String>,
    pub(crate) providers: BTreeMap<String, Provider>,
    pub(crate) retry: Retry,
    pub(crate) timeouts: TimeoutSeconds,
    pub(crate) capabilities: Vec<CapabilityOverride>,
    /// The user's file, there or not, for messages that say where to write something.
    pub(crate) user_file: PathBuf,
}

/// What the user's file says of a provider.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Provider {
    /// How it is spoken to, for one that is not known by name.
    pub(crate) wire: Option<Wire>,
    /// Where it is.
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds its key.
    pub(crate) api_key_env: Option<String>,
    /// Further headers, each with the environment variable that holds its value.
    pub(crate) headers_env: BTreeMap<String, String>,
    /// How many tokens an answer may have.
    pub(crate) max_tokens: Option<u32>,
    /// Further fields of each request.
    pub(crate) extra: Map<String, Value>,
    /// Leaves out the marks for the provider's cache.
    pub(crate) no_cache_marks: bool,
    /// Leaves out the field that asks for usage.
    pub(crate) no_stream_options: bool,
}

/// How long a provider may be silent, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TimeoutSeconds {
    pub(crate) connect_s: Option<u64>,
    pub(crate) first_byte_s: Option<u64>,
    pub(crate) idle_s: Option<u64>,
}

/// The keys of the user's file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct UserFile {
    model: Option<String>,
    approval: Option<ApprovalMode>,
    thinking: Option<HowMuch>,
    max_turns: Option<std::num::NonZeroU64>,
    stage_writes: Option<bool>,
    allow_bash: Option<bool>,
    bash_env: Vec<String>,
    provider: BTreeMap<String, Provider>,
    retry: Option<Retry>,
    timeouts: TimeoutSeconds,
    capability: Vec<CapabilityOverride>,
}

/// The keys of the project's file. A project comes from anywhere: it may make a run more careful,
/// never less, and it names neither addresses nor variables, so that no clone sends a key elsewhere.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ProjectFile {
    model: Option<String>,
    approval: Option<OnlyAsk>,
    thinking: Option<HowMuch>,
    max_turns: Option<std::num::NonZeroU64>,
    stage_writes: Option<OnlyTrue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OnlyAsk {
    Ask,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "bool")]
struct OnlyTrue;

impl TryFrom<bool> for OnlyTrue {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value { Ok(Self) } else { Err("a project can only set `stage_writes = true`") }
    }
}

/// A word or a number of tokens.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum HowMuch {
    Tokens(u32),
    Word(String),
}

/// Puts the settings of a run together.
pub(crate) fn settings(
    workspace: &Path,
    flags: &RunArguments,
    environment: Environment<'_>,
) -> Result<Settings, Failure> {
    let user_file = user_file(environment);
    let user: UserFile = read(&user_file, USER_HINT)?;
    check_variables(&user, &user_file)?;
    let project: ProjectFile = read(&workspace.join(PROJECT_FILE), PROJECT_HINT)?;
    if project.model.as_deref().is_some_and(|model| model.trim().starts_with("script:")) {
        let what = format!("{PROJECT_FILE}: `model` names a script, which a project cannot do");
        return Err(Failure::new(
            what,
            "Give it with --model or XD_MODEL, if you know the script.",
        ));
    }
    let set = |variable: &str| environment(variable).filter(|value| !value.trim().is_empty());
    let approval = match set("XD_APPROVAL") {
        Some(word) => Some(ApprovalMode::from_str(word.trim(), true).map_err(|_| {
            Failure::new(
                format!("XD_APPROVAL is '{word}', which is no approval mode"),
                "Set it to ask, write or yolo, or unset it.",
            )
        })?),
        None => None,
    };
    let word_of = |how: HowMuch| match how {
        HowMuch::Tokens(tokens) => tokens.to_string(),
        HowMuch::Word(word) => word,
    };
    let how = flags
        .thinking
        .clone()
        .map(|word| ("--thinking", word))
        .or_else(|| Some(("XD_THINKING", set("XD_THINKING")?)))
        .or_else(|| Some((PROJECT_FILE, word_of(project.thinking?))))
        .or_else(|| Some(("thinking in the user's file", word_of(user.thinking?))));
    Ok(Settings {
        model: flags.model.clone().or_else(|| set("XD_MODEL")).or(project.model).or(user.model),
        base_url: flags.base_url.clone().or_else(|| set("XD_BASE_URL")),
        approval: flags
            .approval
            .or(approval)
            .or(project.approval.map(|OnlyAsk::Ask| ApprovalMode::Ask))
            .or(user.approval),
        thinking: match how {
            Some((from, word)) => thinking(from, &word)?,
            None => ThinkingSetting::Default,
        },
        max_turns: flags
            .max_turns
            .or(project.max_turns.map(Into::into))
            .or(user.max_turns.map(Into::into)),
        stage_writes: flags.stage_writes
            || project.stage_writes.is_some()
            || user.stage_writes.unwrap_or(false),
        allow_bash: flags.allow_bash || user.allow_bash.unwrap_or(false),
        bash_env: user.bash_env,
        providers: user.provider,
        retry: user.retry.unwrap_or_default(),
        timeouts: user.timeouts,
        capabilities: user.capability,
        user_file,
    })
}

fn user_file(environment: Environment<'_>) -> PathBuf {
    let absolute = |path: String| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let folder = environment("XDG_CONFIG_HOME").and_then(absolute).or_else(|| {
        let home = environment("HOME").and_then(absolute)?;
        Some(home.join(".config"))
    });
    folder.unwrap_or_else(|| PathBuf::from(".config")).join("xd").join("config.toml")
}

const USER_HINT: &str = "Mend the file; `xd help agent` and the README tell what it may hold. Keys are \
                         never in it: `api_key_env` names the variable that holds one.";
const PROJECT_HINT: &str = "A project's file may set model, thinking, max_turns, approval = \"ask\" and \
                            stage_writes = true; everything else belongs into the user's own file.";

/// The file at `path`, or what holds without it. An error names the line and the key, and never
/// repeats a value: it may be a key that was pasted into the wrong place.
fn read<T: DeserializeOwned + Default>(path: &Path, hint: &str) -> Result<T, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => {
            let what = format!("'{}' cannot be read: {error}", path.display());
            return Err(Failure::new(what, "Make it a readable text file, or move it away."));
        }
    };
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |Range { start, .. }| line_of(&text, start));
        let key = text.lines().nth(line - 1).and_then(|line| line.split_once('='));
        let key = key.map(|(key, _)| key.trim()).filter(|key| !key.is_empty());
        let key = key.map(|key| format!("`{key}`: ")).unwrap_or_default();
        let message = error.message();
        Failure::new(format!("{}:{line}: {key}{message}", path.display()), hint)
    })
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}

/// Whether what stands where a variable's name is wanted can be one. What cannot is not repeated:
/// it may be the key itself.
fn check_variables(user: &UserFile, path: &Path) -> Result<(), Failure> {
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    for (provider, said) in &user.provider {
        let headers =
            said.headers_env.iter().map(|(key, name)| (format!("headers_env.{key}"), name));
        let key = said.api_key_env.iter().map(|name| ("api_key_env".to_owned(), name));
        for (key, name) in key.chain(headers) {
            if !is_name(name) {
                return Err(Failure::new(
                    format!(
                        "{}: `{key}` of provider '{provider}' is no name of an environment variable",
                        path.display()
                    ),
                    "Write the name of the variable there and put the key into the variable.",
                ));
            }
        }
    }
    Ok(())
}

fn thinking(from: &str, word: &str) -> Result<ThinkingSetting, Failure> {
    use Effort::{High, Low, Max, Medium, Minimal, Xhigh};
    let word = word.trim();
    if let Some(effort) =
        [Minimal, Low, Medium, High, Xhigh, Max].into_iter().find(|effort| effort.as_str() == word)
    {
        return Ok(ThinkingSetting::Effort(effort));
    }
    match (word, word.parse::<u32>()) {
        ("default", _) => Ok(ThinkingSetting::Default),
        ("off", _) | (_, Ok(0)) => Ok(ThinkingSetting::Off),
        (_, Ok(tokens)) => Ok(ThinkingSetting::Budget(tokens)),
        (_, Err(_)) => Err(Failure::new(
            format!("{from} is '{word}', which is no way of thinking"),
            "Say default, off, minimal, low, medium, high, xhigh, max, or a number of tokens.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        folder: tempfile::TempDir,
        variables: Vec<(&'static str, String)>,
    }

    impl Place {
        fn new(user: &str, project: &str, variables: &[(&'static str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let home = folder.path().join("home");
            std::fs::create_dir_all(home.join("xd")).unwrap();
            std::fs::write(home.join("xd/config.toml"), user).unwrap();
            std::fs::write(folder.path().join(PROJECT_FILE), project).unwrap();
            let mut all = vec![("XDG_CONFIG_HOME", home.display().to_string())];
            all.extend(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
            Self { folder, variables: all }
        }

        fn settings(&self, flags: &RunArguments) -> Result<Settings, Failure> {
            let find = |name: &str| {
                self.variables.iter().find(|(known, _)| *known == name).map(|(_, v)| v.clone())
            };
            settings(self.folder.path(), flags, &find)
        }
    }

    #[test]
    fn a_flag_goes_before_the_environment_before_the_project_before_the_user() {
        let (user, project) =
            ("model = 'u/1'\napproval = 'yolo'", "model = 'p/1'\napproval = 'ask'");
        let flags = RunArguments { model: Some("f/1".into()), ..RunArguments::default() };
        let variables = [("XD_MODEL", "e/1"), ("XD_APPROVAL", "write")];
        let model = |place: &Place, flags| place.settings(flags).unwrap().model.unwrap();
        let none = RunArguments::default();
        assert_eq!(model(&Place::new(user, project, &variables), &flags), "f/1");
        assert_eq!(model(&Place::new(user, project, &variables), &none), "e/1");
        assert_eq!(model(&Place::new(user, project, &[]), &none), "p/1");
        assert_eq!(model(&Place::new(user, "", &[]), &none), "u/1");
        let approval = |place: &Place| place.settings(&none).unwrap().approval;
        assert_eq!(approval(&Place::new(user, project, &variables)), Some(ApprovalMode::Write));
        assert_eq!(approval(&Place::new(user, project, &[])), Some(ApprovalMode::Ask));
        assert_eq!(approval(&Place::new(user, "", &[])), Some(ApprovalMode::Yolo));
        assert_eq!(approval(&Place::new("", "", &[])), None);
    }

    #[test]
    fn what_is_wrong_in_a_file_is_told_with_its_line_and_key() {
        for (user, project, words) in [
            (
                "model = 'a/b'\n\nmodle = 'c/d'\n",
                "",
                &["config.toml:3: `modle`", "unknown field"][..],
            ),
            ("approval = 'always'", "", &["config.toml:1: `approval`", "ask"]),
            ("[provider.openai]\nurl = 'x'", "", &["config.toml:2: `url`", "base_url"]),
            ("max_turns = 0", "", &["config.toml:1: `max_turns`"]),
            ("model = ", "", &["config.toml:1:"]),
            ("", "\nallow_bash = true", &[".xd.toml:2: `allow_bash`", "unknown field"]),
            ("", "approval = 'yolo'", &[".xd.toml:1: `approval`", "ask"]),
            ("", "model = 'script:x'", &[".xd.toml: `model`", "script"]),
            ("", "stage_writes = false", &[".xd.toml:1: `stage_writes`", "only set"]),
            ("", "[provider.openai]\nbase_url = 'http://elsewhere'", &[".xd.toml:1", "provider"]),
        ] {
            let failure = Place::new(user, project, &[]).settings(&RunArguments::default());
            let failure = failure.unwrap_err();
            for word in words {
                assert!(failure.what.contains(word), "{user}{project}: {failure:?}");
            }
        }
    }

    #[test]
    fn a_key_in_the_wrong_place_is_not_repeated() {
        for user in [
            "[provider.openai]\napi_key = 'sk-secret'",
            "[provider.openai]\napi_key_env = 'sk-secret'",
            "[provider.openai]\nheaders_env = { x-key = 'sk-secret' }",
            "api_key_env = 'sk-secret'",
        ] {
            let failure = Place::new(user, "", &[]).settings(&RunArguments::default()).unwrap_err();
            assert!(!format!("{failure:?}").contains("secret"), "{failure:?}");
            assert!(failure.what.contains("config.toml"), "{failure:?}");
        }
    }

    #[test]
    fn thinking_is_a_word_or_a_number() {
        let think = |word: &str| {
            let flags = RunArguments { thinking: Some(word.into()), ..RunArguments::default() };
            Place::new("", "", &[]).settings(&flags).map(|settings| settings.thinking)
        };
        assert_eq!(think("high"), Ok(ThinkingSetting::Effort(Effort::High)));
        assert_eq!(think("off"), Ok(ThinkingSetting::Off));
        assert_eq!(think("4096"), Ok(ThinkingSetting::Budget(4096)));
        assert!(think("hard").unwrap_err().what.contains("'hard'"));
        let file = Place::new("thinking = 2048", "thinking = 'low'", &[]);
        let settings = file.settings(&RunArguments::default()).unwrap();
        assert_eq!(settings.thinking, ThinkingSetting::Effort(Effort::Low));
    }
}
