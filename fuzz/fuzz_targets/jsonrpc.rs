//! The JSON-RPC envelope, by the law that the property tests check.

#![no_main]

use openfang_types::jsonrpc::{Id, IdRule, Incoming, RpcError};
use openfang_types::jsonrpc::{decode, decode_batch, encode_error, encode_notification, encode_request, encode_result};

#[path = "../../crates/openfang-types/src/jsonrpc_laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::decoding_is_total_and_encoding_undoes_it(bytes));
