//! Checks of incoming messages. Content that a browser would execute is refused. The output modes the peer accepts must
//! include one that we write.

use openfang_types::limits::MEDIA_TYPE_MAX_BYTES;
use openfang_types::task::{Part, PartBody};

use crate::error::A2aError;
use crate::operation::SendMessage;

/// The media types we write. The cards declare the same.
pub(crate) const OUTPUT_MODES: [&str; 2] = ["text/plain", "application/json"];

pub(super) fn check(sending: &SendMessage) -> Result<(), A2aError> {
    let modes = &sending.accepted_output_modes;
    if !modes.is_empty() && !modes.iter().any(|mode| is_written(mode)) {
        let why = format!("none of the accepted output modes is one of {}", OUTPUT_MODES.join(", "));
        return Err(A2aError::ContentType(why));
    }
    for (number, part) in sending.message.parts.iter().enumerate() {
        check_part(part).map_err(|why| match why {
            Wrong::Type(why) => A2aError::ContentType(format!("part {number}: {why}")),
            Wrong::Url => A2aError::invalid(format!("message.parts[{number}].url"), "it is not an http or https URL"),
        })?;
    }
    Ok(())
}

enum Wrong {
    Type(&'static str),
    Url,
}

fn check_part(part: &Part) -> Result<(), Wrong> {
    if part.media_type.as_deref().is_some_and(|media_type| !is_media_type(media_type)) {
        return Err(Wrong::Type("not a media type"));
    }
    let is_run = match (&part.media_type, &part.filename) {
        (Some(media_type), _) => is_active(media_type),
        // Without a media type, a reader decides by the file name.
        (None, Some(name)) => is_active_name(name),
        (None, None) => false,
    };
    if is_run {
        return Err(Wrong::Type("content that a browser would run is not taken; send it as text/plain"));
    }
    if let PartBody::Url(url) = &part.body
        && !url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
    {
        return Err(Wrong::Url);
    }
    Ok(())
}

/// `text` and `data` are the names in older versions.
fn is_written(mode: &str) -> bool {
    let essence = mode.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    OUTPUT_MODES.contains(&essence.as_str())
        || matches!(essence.as_str(), "*" | "*/*" | "text/*" | "application/*" | "text" | "data")
}

fn is_media_type(text: &str) -> bool {
    let token = |text: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b);
        !text.is_empty() && text.bytes().all(plain)
    };
    let essence = text.split(';').next().unwrap_or_default().trim();
    // Older peers send names without a slash.
    let is_essence = match essence.split_once('/') {
        Some((kind, subtype)) => token(kind) && token(subtype),
        None => token(essence),
    };
    is_essence && text.len() <= MEDIA_TYPE_MAX_BYTES && !text.chars().any(char::is_control)
}

fn is_active(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().to_ascii_lowercase();
    ["html", "svg", "javascript", "ecmascript", "xslt", "x-shockwave"]
        .iter()
        .any(|word| essence.contains(word))
}

fn is_active_name(name: &str) -> bool {
    const ENDINGS: [&str; 10] = ["html", "htm", "xhtml", "xht", "shtml", "svg", "svgz", "js", "mjs", "swf"];
    let ending = name.trim_end_matches([' ', '.']).rsplit_once('.').map_or("", |(_, ending)| ending);
    ENDINGS.iter().any(|active| ending.eq_ignore_ascii_case(active))
}

#[cfg(test)]
#[path = "intake_tests.rs"]
mod tests;
