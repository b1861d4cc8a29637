//! The model of a run, from its settings.

use std::time::Duration;

use xd_agent::{
    CapabilityTable, Model, ScriptedModel,
    provider::{HttpModel, ModelConfig, Preset, Secret, Settings as ModelSettings, Timeouts},
};

use super::config::{Environment, Provider, Settings};
use crate::failure::Failure;

/// A model of any kind.
pub(crate) type AnyModel = Box<dyn Model>;

/// What stands before the file of a scripted model.
const SCRIPT: &str = "script:";

/// Makes the model that the settings name. Nothing is sent yet.
pub(crate) fn make(settings: &Settings, environment: Environment<'_>) -> Result<AnyModel, Failure> {
    let Some(name) = settings.model.as_deref().map(str::trim).filter(|name| !name.is_empty())
    else {
        return Err(Failure::new(
            "no model is named",
            format!(
                "Name one with --model PROVIDER/MODEL (anthropic/claude-sonnet-4-5), in XD_MODEL, \
                 or as `model` in {}.",
                settings.user_file.display()
            ),
        ));
    };
    if let Some(file) = name.strip_prefix(SCRIPT) {
        let model = ScriptedModel::from_file(file).map_err(|error| {
            Failure::new(error, "`xd record -o FILE PROMPT` writes a script from a real run.")
        })?;
        return Ok(Box::new(model));
    }
    let config = config(name, settings, environment)?;
    let hint = "`xd help agent` tells how a model is named.";
    let model = HttpModel::new(config).map_err(|error| Failure::new(error, hint))?;
    Ok(Box::new(model))
}

fn config(
    name: &str,
    settings: &Settings,
    environment: Environment<'_>,
) -> Result<ModelConfig, Failure> {
    let provider = name.split('/').next().unwrap_or_default();
    let own = settings.providers.get(provider);
    if !name.contains('/') {
        let what = match Preset::find(name).is_some() || own.is_some() || name == "custom" {
            true => format!("'{name}' names a provider and no model"),
            false => format!("'{name}' names no provider"),
        };
        return Err(Failure::new(
            what,
            "Name both as PROVIDER/MODEL, the model as its provider calls it: \
             anthropic/claude-sonnet-4-5.",
        ));
    }
    let said = own.cloned().unwrap_or_default();
    let mut config = match (Preset::find(provider), said.wire) {
        (Some(_), Some(_)) => {
            return Err(Failure::new(
                format!("the provider '{provider}' is known, and its wire cannot be set"),
                "Give the provider another name in your file.",
            ));
        }
        (None, Some(wire)) => own_provider(name, wire)?,
        (None, None) if own.is_some() => {
            return Err(Failure::new(
                format!("how the provider '{provider}' is spoken to is not said"),
                "Set its `wire`: chat-completions, anthropic-messages or openai-responses.",
            ));
        }
        (None, None) if provider == "custom" => {
            own_provider(name, xd_agent::provider::Wire::ChatCompletions)?
        }
        (Some(_), None) | (None, None) => ModelConfig::named(name).map_err(|error| {
            let file = settings.user_file.display();
            let hint = format!(
                "Known to {file} are the providers under [provider.NAME], with `wire` and \
                 `base_url`; custom/MODEL with --base-url speaks chat completions."
            );
            Failure::new(error, hint)
        })?,
    };
    config.base_url = settings.base_url.clone().or(said.base_url.clone());
    if config.base_url.is_none() && config.preset.base_url.is_empty() {
        return Err(Failure::new(
            format!("where the provider '{provider}' is, is not said"),
            "Give --base-url URL, or `base_url` under its name in your file.",
        ));
    }
    config.key = key(provider, &config, &said, settings, environment)?;
    for (header, variable) in &said.headers_env {
        let value = environment(variable).filter(|value| !value.trim().is_empty());
        let value = value.ok_or_else(|| unset(provider, variable, settings))?;
        config.headers.push((header.clone(), Secret::new(value)));
    }
    config.settings = ModelSettings {
        max_tokens: said.max_tokens,
        thinking: settings.thinking,
        extra: said.extra,
        no_cache_marks: said.no_cache_marks,
        no_stream_options: said.no_stream_options,
    };
    config.table = CapabilityTable::with_overrides(settings.capabilities.clone());
    config.retry = settings.retry;
    let seconds = |given: Option<u64>, usual| given.map_or(usual, Duration::from_secs);
    let usual = Timeouts::default();
    config.timeouts = Timeouts {
        connect: seconds(settings.timeouts.connect_s, usual.connect),
        first_byte: seconds(settings.timeouts.first_byte_s, usual.first_byte),
        idle: seconds(settings.timeouts.idle_s, usual.idle),
    };
    proxied(&mut config, environment);
    Ok(config)
}

/// A provider that only the user's file knows.
fn own_provider(name: &str, wire: xd_agent::provider::Wire) -> Result<ModelConfig, Failure> {
    let named = name.split_once('/').filter(|(_, model)| !model.is_empty());
    let Some((provider, model)) = named else {
        return Err(Failure::new(
            format!("'{name}' names no model"),
            "Name one as PROVIDER/MODEL, as the provider calls it.",
        ));
    };
    // One name in the life of the process, so that the capability table can speak of it.
    let provider: &'static str = Box::leak(provider.to_owned().into_boxed_str());
    let mut preset = Preset::custom(wire);
    (preset.name, preset.rules) = (provider, provider);
    Ok(ModelConfig::new(preset, model))
}

/// The key, from the variable that the user's file names, or the preset. An address of one's own
/// without a variable of one's own may do without.
fn key(
    provider: &str,
    config: &ModelConfig,
    said: &Provider,
    settings: &Settings,
    environment: Environment<'_>,
) -> Result<Option<Secret>, Failure> {
    let own = said.api_key_env.as_deref();
    let Some(variable) = own.or(config.preset.key_variable) else { return Ok(None) };
    match environment(variable).filter(|value| !value.trim().is_empty()) {
        Some(value) => Ok(Some(Secret::new(value))),
        None if own.is_none() && config.base_url.is_some() => Ok(None),
        None => Err(unset(provider, variable, settings)),
    }
}

fn unset(provider: &str, variable: &str, settings: &Settings) -> Failure {
    Failure::new(
        format!(
            "the key of '{provider}' is missing: the environment variable {variable} is not set"
        ),
        format!(
            "Set {variable}, or name another variable as `api_key_env` under [provider.{provider}] \
             in {}.",
            settings.user_file.display()
        ),
    )
}

/// The proxy that the environment names for the address at hand, as most programs read it.
fn proxied(config: &mut ModelConfig, environment: Environment<'_>) {
    let first = |names: &[&str]| {
        names.iter().find_map(|name| environment(name).filter(|value| !value.trim().is_empty()))
    };
    let address = config.base_url.as_deref().unwrap_or(config.preset.base_url);
    config.proxy = if address.starts_with("https:") {
        first(&["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
    } else {
        first(&["http_proxy", "ALL_PROXY", "all_proxy"])
    };
    config.no_proxy = first(&["NO_PROXY", "no_proxy"]);
}
