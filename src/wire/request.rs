//! Reading one line as a request, strictly: whatever is wrong with it, the sender learns what, under the id he gave.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::envelope::{Error, ErrorKind, Id, Response};
use super::methods::Method;

/// The deepest nesting of arrays and objects in a message, the message itself counted.
pub const MAX_DEPTH: usize = 64;

/// The longest text that serves as a request's id, in bytes.
pub const MAX_REQUEST_ID_BYTES: usize = 256;

/// A request that can be handled.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The id its answer carries.
    pub id: Id,
    /// What is asked for.
    pub method: Method,
    /// Its parameters, not looked at yet.
    pub params: Value,
}

/// Reads a line as a request.
///
/// Every request carries an id and gets an answer. This protocol knows no notifications from a client: a message
/// without an id is not done and is answered under the id `null`, because silence would look like a daemon that hangs.
/// A key that stands twice in one object is refused, wherever it stands: keeping either of two `user`s would be a guess.
///
/// # Errors
/// The answer to send instead: `parse`, `invalid_request` or `unknown_method`.
pub fn read(line: &str) -> Result<Call, Response> {
    let value = match strict(line) {
        Ok(value) => value,
        Err(error) => return Err(Response::failed(readable_id(line), error)),
    };
    let Value::Object(mut request) = value else {
        let message = match value {
            Value::Array(_) => "send one request a line; batches are not supported",
            _ => "a request is a JSON object",
        };
        return Err(Response::failed(Id::Null, Error::new(ErrorKind::InvalidRequest, message)));
    };
    let id = id(&mut request).map_err(|error| Response::failed(Id::Null, error))?;
    match method(&request) {
        Ok(method) => Ok(Call { id, method, params: request.remove("params").unwrap_or_default() }),
        Err(error) => Err(Response::failed(id, error)),
    }
}

/// Reads a request's parameters; none at all are as good as an empty object.
///
/// # Errors
/// `invalid_params`, with the path of the field that is wrong.
pub fn parse_params<T: DeserializeOwned>(params: Value) -> Result<T, Error> {
    let params = match params {
        Value::Null => Value::Object(Map::new()),
        Value::Object(_) => params,
        _ => return Err(Error::new(ErrorKind::InvalidParams, "params must be an object")),
    };
    serde_path_to_error::deserialize(params).map_err(|error| {
        let path = error.path().to_string();
        let message = match path.as_str() {
            "." => format!("params: {}", error.inner()),
            path => format!("params.{path}: {}", error.inner()),
        };
        Error::new(ErrorKind::InvalidParams, message)
    })
}

fn id(request: &mut Map<String, Value>) -> Result<Id, Error> {
    let refused = |message: String| Err(Error::new(ErrorKind::InvalidRequest, message));
    match request.remove("id") {
        Some(Value::Number(number)) if number.is_i64() => Ok(Id::Number(number.as_i64().unwrap_or_default())),
        Some(Value::String(text)) if text.len() <= MAX_REQUEST_ID_BYTES => Ok(Id::Text(text)),
        Some(Value::String(text)) => {
            refused(format!("an id has at most {MAX_REQUEST_ID_BYTES} bytes, this one has {}", text.len()))
        }
        Some(_) => refused("an id is a text or a 64-bit whole number".into()),
        None => refused("the request has no id; every request needs one".into()),
    }
}

fn method(request: &Map<String, Value>) -> Result<Method, Error> {
    if request.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Error::new(ErrorKind::InvalidRequest, "jsonrpc must be \"2.0\""));
    }
    let Some(name) = request.get("method").and_then(Value::as_str) else {
        return Err(Error::new(ErrorKind::InvalidRequest, "method must be a text"));
    };
    Method::by_name(name).ok_or_else(|| {
        let known: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
        let known = known.join(", ");
        Error::new(ErrorKind::UnknownMethod, format!("there is no such method; there are: {known}"))
    })
}

/// The id of a message that is otherwise refused, where it can be made out.
fn readable_id(line: &str) -> Id {
    #[derive(Deserialize)]
    struct OnlyId {
        id: Id,
    }
    match serde_json::from_str(line) {
        Ok(OnlyId { id: Id::Text(text) }) if text.len() > MAX_REQUEST_ID_BYTES => Id::Null,
        Ok(OnlyId { id }) => id,
        Err(_) => Id::Null,
    }
}

/// JSON without keys that stand twice and not nested too deep, which serde_json alone lets pass.
fn strict(line: &str) -> Result<Value, Error> {
    let mut json = serde_json::Deserializer::from_str(line);
    let read = Strict { depth: 0 }.deserialize(&mut json);
    read.and_then(|value| json.end().map(|()| value)).map_err(|error| {
        let kind = if error.is_data() { ErrorKind::InvalidRequest } else { ErrorKind::Parse };
        Error::new(kind, error.to_string())
    })
}

#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        match self.depth < MAX_DEPTH {
            true => Ok(Self { depth: self.depth + 1 }),
            false => Err(E::custom(format_args!("nested more than {MAX_DEPTH} deep"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(de::Error::custom(format_args!("the key {key:?} stands twice in one object")));
            }
            object.insert(key, entries.next_value_seed(inner)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::methods::{SearchParams, StatusParams};

    #[test]
    fn a_request_is_read_whatever_its_id_and_without_params() {
        let call = read(r#"{"jsonrpc":"2.0","id":"甲","method":"status"}"#).unwrap();
        assert_eq!(call, Call { id: Id::Text("甲".into()), method: Method::Status, params: Value::Null });
        assert_eq!(parse_params::<StatusParams>(call.params).unwrap(), StatusParams {});
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":-1,"method":"get"}"#).unwrap().id, Id::Number(-1));
    }

    #[test]
    fn a_wrong_parameter_is_named() {
        let table = [
            (r#"{}"#, "params: missing field `user`"),
            (r#"{"user":5,"query":"端口"}"#, "params.user: invalid type: integer `5`"),
            (r#"{"user":"u","query":"端口","top_k":-1}"#, "params.top_k: invalid value: integer `-1`"),
            (r#"{"user":"u","query":"端口","usr":"v"}"#, "params.usr: unknown field `usr`"),
            (r#"["u","端口"]"#, "params must be an object"),
        ];
        for (params, expected) in table {
            let error = parse_params::<SearchParams>(serde_json::from_str(params).unwrap()).unwrap_err();
            assert_eq!(error.data.kind, ErrorKind::InvalidParams);
            assert!(error.message.starts_with(expected), "{}", error.message);
        }
    }

    #[test]
    fn nesting_up_to_the_limit_is_read_and_one_more_is_refused_under_its_id() {
        let nested = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"status","params":{open}{close}}}"#)
        };
        assert!(read(&nested(MAX_DEPTH - 1)).is_ok());
        for levels in [MAX_DEPTH, 200] {
            let refused = read(&nested(levels)).unwrap_err();
            assert_eq!(refused.id, Id::Number(7));
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_the_reader_panic(line in any::<String>()) {
            let _ = read(&line);
        }

        #[test]
        fn what_looks_like_a_request_makes_no_panic(line in r#"[\{\}\[\]",:0-9a-z\\u ]{0,60}"#) {
            let _ = read(&line);
        }
    }
}
