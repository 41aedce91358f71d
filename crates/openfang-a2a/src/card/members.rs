//! The members of a 1.0 card. Signatures cover these members; readers of 1.0 drop all others.

use serde_json::{Map, Value};

/// What is kept of a value.
enum Shape {
    /// The value as it is.
    Any,
    /// These members of an object.
    Members(&'static [(&'static str, Shape)]),
    /// The items of a list.
    List(&'static Shape),
    /// The values of an object with any names.
    Map(&'static Shape),
}

use Shape::{Any, List, Members};

const REQUIREMENTS: Shape = List(&Members(&[("schemes", Shape::Map(&Members(&[("list", Any)])))]));
const FLOW: Shape = Members(&[
    ("authorizationUrl", Any),
    ("tokenUrl", Any),
    ("refreshUrl", Any),
    ("scopes", Any),
    ("pkceRequired", Any),
    ("deviceAuthorizationUrl", Any),
]);
const SCHEME: Shape = Members(&[
    ("apiKeySecurityScheme", Members(&[("description", Any), ("location", Any), ("name", Any)])),
    ("httpAuthSecurityScheme", Members(&[("description", Any), ("scheme", Any), ("bearerFormat", Any)])),
    (
        "oauth2SecurityScheme",
        Members(&[
            ("description", Any),
            (
                "flows",
                Members(&[
                    ("authorizationCode", FLOW),
                    ("clientCredentials", FLOW),
                    ("implicit", FLOW),
                    ("password", FLOW),
                    ("deviceCode", FLOW),
                ]),
            ),
            ("oauth2MetadataUrl", Any),
        ]),
    ),
    ("openIdConnectSecurityScheme", Members(&[("description", Any), ("openIdConnectUrl", Any)])),
    ("mtlsSecurityScheme", Members(&[("description", Any)])),
]);
const SKILL: Shape = Members(&[
    ("id", Any),
    ("name", Any),
    ("description", Any),
    ("tags", Any),
    ("examples", Any),
    ("inputModes", Any),
    ("outputModes", Any),
    ("securityRequirements", REQUIREMENTS),
]);
const INTERFACE: Shape = Members(&[("url", Any), ("protocolBinding", Any), ("tenant", Any), ("protocolVersion", Any)]);
const EXTENSION: Shape = Members(&[("uri", Any), ("description", Any), ("required", Any), ("params", Any)]);
const CARD: Shape = Members(&[
    ("name", Any),
    ("description", Any),
    ("supportedInterfaces", List(&INTERFACE)),
    ("provider", Members(&[("url", Any), ("organization", Any)])),
    ("version", Any),
    ("documentationUrl", Any),
    (
        "capabilities",
        Members(&[
            ("streaming", Any),
            ("pushNotifications", Any),
            ("extensions", List(&EXTENSION)),
            ("extendedAgentCard", Any),
        ]),
    ),
    ("securitySchemes", Shape::Map(&SCHEME)),
    ("securityRequirements", REQUIREMENTS),
    ("defaultInputModes", Any),
    ("defaultOutputModes", Any),
    ("skills", List(&SKILL)),
    ("iconUrl", Any),
]);

/// The members of 1.0, without signatures.
pub(super) fn of_v10(card: &Value) -> Value {
    kept(card, &CARD)
}

fn kept(value: &Value, shape: &Shape) -> Value {
    match (value, shape) {
        (Value::Object(members), Shape::Members(known)) => {
            let known = known
                .iter()
                .filter_map(|(name, shape)| Some(((*name).to_owned(), kept(members.get(*name)?, shape))));
            Value::Object(known.collect::<Map<_, _>>())
        }
        (Value::Object(members), Shape::Map(shape)) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), kept(value, shape))).collect())
        }
        (Value::Array(items), Shape::List(shape)) => items.iter().map(|item| kept(item, shape)).collect(),
        (other, _) => other.clone(),
    }
}
