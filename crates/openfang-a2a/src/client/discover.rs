//! From a URL to an agent that can be asked: the card, its signature, the interface, and its version where the card does not
//! say.

use std::sync::Arc;

use openfang_types::limits::{A2A_CARD_AGE, A2A_DISCOVERY_TOTAL};
use tokio::time::{Instant, timeout};

use super::agent::RemoteAgent;
use super::call::Reply;
use super::card::PeerCard;
use super::discovery::{Discovery, DiscoveryError, DiscoveryRecord, ExtendedCard, SignatureState, Validators};
use super::error::ClientError;
use super::find_card::{self, CacheTerms, FoundCard, Search};
use super::interface::{Candidate, Interface, candidates};
use super::probe::{self, Unspoken, WAYS};
use crate::dialect::Dialect;
use crate::operation::Operation;
use crate::peer::PeerAnswer;

impl RemoteAgent {
    /// Fetches the card again, however fresh it is. If that fails, what was known before stays known.
    pub async fn refresh(&self) -> Result<Arc<Discovery>, ClientError> {
        let before = self.known();
        let _turn = self.discovering().lock().await;
        // Whoever waited for another discovery takes its result.
        if let Some(known) = self.known().filter(|known| is_newer(known, before.as_ref())) {
            return Ok(known);
        }
        let found = timeout(A2A_DISCOVERY_TOTAL, self.look(before.as_deref())).await;
        let found = found.unwrap_or_else(|_| {
            let why = format!("the agent was not found within {} seconds", A2A_DISCOVERY_TOTAL.as_secs());
            Err(DiscoveryError::Unreachable(why).into())
        })?;
        Ok(self.remember(found))
    }

    /// Takes over what was known before a restart, if it still fits the settings. The card counts as not fresh.
    pub fn restore(&self, record: &DiscoveryRecord) -> Result<Arc<Discovery>, DiscoveryError> {
        let refused = |why: String| DiscoveryError::Record(why);
        let dialect = Dialect::from(record.dialect);
        self.site().target(&record.url).map_err(|error| refused(error.to_string()))?;
        if !self.settings().protocol.allows(dialect) {
            return Err(refused(format!("it was used in A2A {dialect}")));
        }
        let card = match &record.card {
            Some(document) => {
                Some(PeerCard::read(document.get().as_bytes()).ok_or_else(|| refused("no card".to_owned()))?)
            }
            None => None,
        };
        if let Some(card) = &card {
            self.check_extensions(card)?;
        }
        Ok(self.remember(Discovery {
            card: card.map(Arc::new),
            card_url: record.card_url.clone(),
            interface: Interface {
                url: record.url.clone(),
                binding: record.binding,
                dialect,
                tenant: record.tenant.clone(),
            },
            repairs: record.repairs.clone(),
            signature: record.signature.clone(),
            extended: record.extended.clone(),
            validators: record.validators.clone(),
            max_age: A2A_CARD_AGE,
            fetched: None,
        }))
    }

    async fn look(&self, known: Option<&Discovery>) -> Result<Discovery, ClientError> {
        // A signature is checked each time: its key may have expired since.
        let unsigned = known.filter(|known| !matches!(known.signature, SignatureState::Valid { .. }));
        let validators = unsigned.and_then(|known| Some((known.card_url.as_deref()?, &known.validators)));
        match find_card::find(self, validators).await {
            Ok(Search::Found(found)) => self.of_card(*found).await,
            Ok(Search::NotModified(CacheTerms { validators, max_age })) => match known {
                Some(known) => Ok(Discovery { validators, max_age, fetched: Some(Instant::now()), ..known.clone() }),
                None => Err(DiscoveryError::Unreachable("the server sent no card".to_owned()).into()),
            },
            Ok(Search::Nothing(why)) => self.of_endpoint(why).await,
            // A card that is denied does not matter if the endpoint is known.
            Err(DiscoveryError::Unauthorized { status, .. }) if self.site().endpoint.is_some() => {
                self.of_endpoint(format!("HTTP {status}")).await
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn of_card(&self, found: FoundCard) -> Result<Discovery, ClientError> {
        let FoundCard { card, served, url, cache } = found;
        let signature = self.verify(&card, &served, &url).await?;
        self.check_extensions(&card)?;
        let candidates = match (&self.site().endpoint, candidates(&card, &url, self.site(), self.settings().protocol)) {
            (None, candidates) => candidates?,
            (Some(endpoint), candidates) => at_endpoint(endpoint, candidates.ok()),
        };
        let (interface, repairs) = self.choose(&candidates).await?;
        for repair in &repairs {
            tracing::warn!(agent = %card.name, used = %repair.used, stated = %repair.stated, reason = %repair.reason,
                "the address in an agent card was corrected");
        }
        let mut discovery = Discovery {
            card: None,
            card_url: Some(url.into()),
            interface,
            repairs,
            signature,
            extended: ExtendedCard::NotOffered,
            validators: cache.validators,
            max_age: cache.max_age,
            fetched: Some(Instant::now()),
        };
        let (card, extended) = self.extended(&discovery, card).await;
        discovery.card = Some(Arc::new(card));
        discovery.extended = extended;
        Ok(discovery)
    }

    /// The interface to use. Where the card states no version, the endpoint is probed.
    async fn choose(&self, candidates: &[Candidate]) -> Result<(Interface, Vec<super::Repair>), ClientError> {
        let mut failure = None;
        for candidate in candidates {
            if let Some(dialect) = candidate.dialect {
                return Ok((candidate.interface(dialect), candidate.repairs.clone()));
            }
            let ways = WAYS.into_iter().filter(|(binding, _)| *binding == candidate.binding);
            match self.probed(&candidate.url, candidate.tenant.as_deref(), ways).await {
                Ok(interface) => return Ok((interface, candidate.repairs.clone())),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(failure.unwrap_or_else(|| DiscoveryError::NoInterface { offered: Vec::new() }.into()))
    }

    async fn probed(
        &self,
        url: &str,
        tenant: Option<&str>,
        ways: impl Iterator<Item = (super::Binding, Dialect)>,
    ) -> Result<Interface, ClientError> {
        let protocol = self.settings().protocol;
        let ways = ways.filter(|(_, dialect)| protocol.allows(*dialect));
        probe::probe(self, url, tenant, ways).await.map_err(|error| match error {
            Unspoken::Unavailable(error) => error,
            Unspoken::Unknown(why) => DiscoveryError::UnknownVersion { origin: origin(url), why }.into(),
        })
    }

    /// An agent without a card.
    async fn of_endpoint(&self, card: String) -> Result<Discovery, ClientError> {
        let url = self.site().endpoint.clone().unwrap_or_else(|| self.site().base.to_string());
        let interface = match self.probed(&url, None, WAYS.into_iter()).await {
            Err(ClientError::Discovery(error)) => {
                let endpoint = match *error {
                    DiscoveryError::UnknownVersion { why, .. } => why,
                    other => other.to_string(),
                };
                return Err(DiscoveryError::NoAgent { origin: origin(&url), card, endpoint }.into());
            }
            other => other?,
        };
        Ok(Discovery {
            card: None,
            card_url: None,
            interface,
            repairs: Vec::new(),
            signature: SignatureState::Unsigned,
            extended: ExtendedCard::NotOffered,
            validators: Validators::default(),
            max_age: A2A_CARD_AGE,
            fetched: Some(Instant::now()),
        })
    }

    /// Another way to ask an agent that did not understand us: as its current card says, or as a probe finds out.
    pub(super) async fn rediscover(&self, failed: &Discovery) -> Option<Arc<Discovery>> {
        let refreshed = self.refresh().await.ok();
        if let Some(refreshed) = refreshed.filter(|now| now.interface != failed.interface) {
            return Some(refreshed);
        }
        let Interface { url, binding, dialect, tenant } = &failed.interface;
        let ways = WAYS.into_iter().filter(|way| *way != (*binding, *dialect));
        let interface = self.probed(url, tenant.as_deref(), ways).await.ok()?;
        tracing::info!(origin = %origin(url), version = %interface.dialect, "the agent speaks another version of A2A");
        let current = self.known().map_or_else(|| failed.clone(), |known| (*known).clone());
        Some(self.remember(Discovery { interface, ..current }))
    }

    fn check_extensions(&self, card: &PeerCard) -> Result<(), DiscoveryError> {
        let supported = &self.settings().extensions;
        let missing = card.required_extensions().find(|uri| !supported.iter().any(|one| one == uri));
        missing.map_or(Ok(()), |uri| Err(DiscoveryError::Extension(uri.to_owned())))
    }

    /// The card for authenticated callers, in the place of the public one. Where the public card has a valid signature, this
    /// one needs one too: otherwise the signature would say nothing about the words that are used.
    async fn extended(&self, public: &Discovery, card: PeerCard) -> (PeerCard, ExtendedCard) {
        if !card.extended_card {
            return (card, ExtendedCard::NotOffered);
        }
        if !self.site().has_credentials() {
            return (card, ExtendedCard::NoCredential);
        }
        match self.extended_card(public).await {
            Ok(extended) => (extended, ExtendedCard::Used),
            Err(reason) => (card, ExtendedCard::Failed { reason }),
        }
    }

    async fn extended_card(&self, public: &Discovery) -> Result<PeerCard, String> {
        let reply = self.short(&public.interface).perform(Operation::ExtendedCard).await;
        let Reply::Answer(PeerAnswer::Card(document)) = reply.map_err(|error| error.to_string())? else {
            return Err("the answer is not a card".to_owned());
        };
        let served = document.get().as_bytes();
        let card = PeerCard::read(served).ok_or_else(|| "the answer is not a card".to_owned())?;
        self.check_extensions(&card).map_err(|error| error.to_string())?;
        let SignatureState::Valid { key } = &public.signature else { return Ok(card) };
        let url = public.card_url.as_deref().and_then(|url| url::Url::parse(url).ok());
        let url = url.ok_or_else(|| "the card it belongs to has no URL".to_owned())?;
        match self.verify(&card, served, &url).await {
            Ok(SignatureState::Valid { key: other }) if other == *key => Ok(card),
            Ok(SignatureState::Valid { .. }) => Err("it is signed with another key than the public card".to_owned()),
            Ok(SignatureState::Unsigned) => Err("it is not signed, and the public card is".to_owned()),
            Ok(SignatureState::Unverified { reason }) => Err(reason),
            Ok(SignatureState::Unchecked) => Ok(card),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn is_newer(known: &Arc<Discovery>, before: Option<&Arc<Discovery>>) -> bool {
    before.is_none_or(|before| !Arc::ptr_eq(known, before)) && known.is_fresh()
}

/// The interfaces of a card at the endpoint that the settings name.
fn at_endpoint(endpoint: &str, candidates: Option<Vec<Candidate>>) -> Vec<Candidate> {
    let unknown = |binding| Candidate { url: String::new(), binding, dialect: None, tenant: None, repairs: Vec::new() };
    let both = [super::Binding::JsonRpc, super::Binding::HttpJson];
    let mut candidates = candidates.unwrap_or_else(|| both.map(unknown).into());
    for candidate in &mut candidates {
        endpoint.clone_into(&mut candidate.url);
        candidate.repairs.clear();
    }
    candidates
}

fn origin(url: &str) -> String {
    url::Url::parse(url).map_or_else(|_| url.to_owned(), |url| url.origin().ascii_serialization())
}
