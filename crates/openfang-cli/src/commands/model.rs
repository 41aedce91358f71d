//! `openfang model`: which models can be used, how they are reached, and whether they answer.

use openfang_types::api::{KeyView, ModelList, ModelTest, ModelView, ProviderView};

use crate::args::ModelCommand;
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Table, Tone};
use crate::session::Session;

/// Models of a provider that a list shows.
const SHOWN_MODELS: usize = 4;

pub(super) async fn run(session: &Session, command: ModelCommand) -> Result<Exit, CliError> {
    let backend = Backend::open(session).await?;
    match command {
        ModelCommand::List => list(session, &backend.models().await?)?,
        ModelCommand::Show { model } => show(session, &backend.model(&model).await?)?,
        ModelCommand::Test { model } => test(session, &backend.test_model(model.as_deref()).await?)?,
    }
    Ok(Exit::Ok)
}

fn list(session: &Session, list: &ModelList) -> Result<(), CliError> {
    if session.output.is_json() {
        return session.output.document(list);
    }
    let mut table = Table::new(&["PROVIDER", "API KEY", "MODELS"]);
    for provider in &list.providers {
        table.row([(&provider.name).into(), key(provider), models(provider).into()]);
    }
    session.output.table(&table)?;
    for server in &list.local {
        session.output.note(&format!(
            "a {} answers at {} with {}; to use it, add [providers.local] with wire = \"chat\" and base_url = {:?} to config.toml",
            server.kind,
            server.base_url,
            shortened(&server.models),
            server.base_url
        ));
    }
    let is_usable = |provider: &&ProviderView| match &provider.key {
        KeyView::Found { .. } => true,
        KeyView::NotNeeded => !provider.models.is_empty(),
        KeyView::Missing { .. } => false,
    };
    match list.providers.iter().find(is_usable).and_then(|usable| Some((usable, usable.models.first()?))) {
        Some((usable, model)) => {
            let new = session.command(&format!("agent new NAME --model {}/{model}", usable.name));
            session.output.note(&format!("make an agent with a model: {new}"));
        }
        None => session.output.note(
            "no model can be used here; set the variable of a provider, store its key with `openfang secret set`, or start Ollama",
        ),
    }
    Ok(())
}

fn key(provider: &ProviderView) -> Cell {
    match &provider.key {
        KeyView::NotNeeded if provider.problem.is_some() => Cell::toned("not needed", Tone::Plain),
        KeyView::NotNeeded => Cell::toned("not needed", Tone::Good),
        KeyView::Found { source } => Cell::toned(source, Tone::Good),
        KeyView::Missing { reason } => Cell::toned(reason, Tone::Plain),
    }
}

fn models(provider: &ProviderView) -> String {
    match &provider.problem {
        Some(problem) => problem.clone(),
        None => shortened(&provider.models),
    }
}

fn shortened(models: &[String]) -> String {
    let shown = models.iter().take(SHOWN_MODELS).map(String::as_str).collect::<Vec<_>>().join(", ");
    match models.len().saturating_sub(SHOWN_MODELS) {
        0 if models.is_empty() => "no models".to_owned(),
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn show(session: &Session, model: &ModelView) -> Result<(), CliError> {
    if session.output.is_json() {
        return session.output.document(model);
    }
    let mut fields = Fields::default();
    fields.add("model", &model.reference);
    fields.add("protocol", &model.wire);
    fields.add("url", &model.base_url);
    fields.add(
        "api key",
        match &model.key {
            KeyView::NotNeeded => "not needed".to_owned(),
            KeyView::Found { source } => format!("from {source}"),
            KeyView::Missing { reason } => format!("missing: {reason}"),
        },
    );
    let tokens = |count: Option<u64>| count.map_or_else(|| "unknown".to_owned(), |count| format!("{count} tokens"));
    fields.add("window", tokens(model.window));
    fields.add("longest answer", tokens(model.max_output));
    let price = model
        .price
        .map(|price| format!("${} in, ${} out for a million tokens", price.input, price.output));
    fields.add("price", price.unwrap_or_else(|| "unknown; set it under [models] in config.toml".to_owned()));
    let media = [("images", model.images), ("audio", model.audio)];
    let media: Vec<&str> = media.into_iter().filter(|(_, takes)| *takes).map(|(name, _)| name).collect();
    fields.add("takes", if media.is_empty() { "text".to_owned() } else { format!("text, {}", media.join(", ")) });
    fields.add("reasoning", &model.reasoning);
    session.output.fields(&fields)
}

fn test(session: &Session, test: &ModelTest) -> Result<(), CliError> {
    if session.output.is_json() {
        return session.output.document(test);
    }
    let count = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string());
    let first = test
        .first_millis
        .map(|millis| format!("first piece after {millis} ms, "))
        .unwrap_or_default();
    let cost = test.cost_usd.map(|cost| format!(", ${cost:.6}")).unwrap_or_default();
    session.output.text(&format!(
        "{} answers: {first}{} ms in all, {} tokens in, {} out{cost}",
        test.reference,
        test.millis,
        count(test.input_tokens),
        count(test.output_tokens)
    ))
}
