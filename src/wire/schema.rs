//! The protocol as JSON Schema, made from the very types that are sent.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::clear::{ClearParams, ClearResult};
use super::flush::FlushMarker;
use super::methods::{self as m, Method};
use super::rollup::{PromoteParams, PromoteResult, RollupParams, RollupResult};
use super::status::Status;
use super::sweep::{SweepParams, SweepResult};
use super::turn::{SessionStartParams, SessionStartResult, TurnParams, TurnResult};
use super::{Error, Event, MAX_MESSAGE_BYTES, PROTOCOL};

/// The whole protocol in one document: `methods.NAME.params` and `methods.NAME.result`, `event` (the `params` of an
/// `event` notification) and `error`; `flush_marker` is
/// a marker file; shared types stand in `$defs`.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let methods: Map<String, Value> = Method::ALL
        .iter()
        .map(|method| (method.name().to_owned(), params_and_result(&mut generator, *method)))
        .collect();
    let event = generator.subschema_for::<Event>();
    let error = generator.subschema_for::<Error>();
    let marker = generator.subschema_for::<FlushMarker>();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ocmemd: JSON-RPC 2.0 over a Unix socket, one message a line",
        "protocol": PROTOCOL,
        "max_message_bytes": MAX_MESSAGE_BYTES,
        "methods": methods,
        "event": event,
        "error": error,
        "flush_marker": marker,
        "$defs": generator.take_definitions(true),
    })
}

/// What one method takes and gives, as two schemas, `params` and `result`, each complete in itself.
pub fn for_method(method: Method) -> Value {
    let whole = schema();
    let complete = |part: &str| {
        let mut schema = whole["methods"][method.name()][part].clone();
        schema["$schema"] = whole["$schema"].clone();
        schema["$defs"] = whole["$defs"].clone();
        schema
    };
    json!({ "params": complete("params"), "result": complete("result") })
}

fn params_and_result(generator: &mut SchemaGenerator, method: Method) -> Value {
    match method {
        Method::SessionStart => pair::<SessionStartParams, SessionStartResult>(generator),
        Method::Context => pair::<m::ContextParams, m::ContextResult>(generator),
        Method::Turn => pair::<TurnParams, TurnResult>(generator),
        Method::Search => pair::<m::SearchParams, m::SearchResult>(generator),
        Method::Remember => pair::<m::RememberParams, m::RememberResult>(generator),
        Method::Flush => pair::<m::FlushParams, m::FlushResult>(generator),
        Method::Forget => pair::<m::ForgetParams, m::ForgetResult>(generator),
        Method::Clear => pair::<ClearParams, ClearResult>(generator),
        Method::Sweep => pair::<SweepParams, SweepResult>(generator),
        Method::Get => pair::<m::GetParams, m::GetResult>(generator),
        Method::List => pair::<m::ListParams, m::ListResult>(generator),
        Method::Rollup => pair::<RollupParams, RollupResult>(generator),
        Method::Promote => pair::<PromoteParams, PromoteResult>(generator),
        Method::Reindex => pair::<m::ReindexParams, m::ReindexResult>(generator),
        Method::Status => pair::<m::StatusParams, Status>(generator),
        Method::Subscribe => pair::<m::SubscribeParams, m::SubscribeResult>(generator),
    }
}

fn pair<P: JsonSchema, R: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    json!({ "params": generator.subschema_for::<P>(), "result": generator.subschema_for::<R>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ErrorKind;
    use crate::wire::clear::NotCut;
    use crate::wire::sweep::SweepHeld;

    fn valid(schema: &Value, value: &Value) -> bool {
        jsonschema::validator_for(schema).unwrap().is_valid(value)
    }

    #[test]
    fn every_method_has_two_schemas_that_a_validator_takes() {
        for &method in Method::ALL {
            let schemas = for_method(method);
            for part in ["params", "result"] {
                assert!(jsonschema::validator_for(&schemas[part]).is_ok(), "{} {part}", method.name());
                assert!(!valid(&schemas[part], &json!(1)), "{} {part} takes anything", method.name());
            }
        }
    }

    #[test]
    fn parameters_are_judged_as_the_daemon_judges_them() {
        let params = &for_method(Method::Search)["params"];
        assert!(valid(params, &json!({ "user": "小明", "query": "端口是多少" })));
        assert!(!valid(params, &json!({ "query": "端口是多少" })));
        assert!(!valid(params, &json!({ "user": "小明", "query": "端口", "usr": "x" })));
    }

    #[test]
    fn a_flush_is_judged_as_the_daemon_judges_it() {
        let params = &for_method(Method::Flush)["params"];
        let messages = json!([{ "role": "user", "content": "端口是 18080", "id": "m1" }]);
        assert!(valid(params, &json!({ "user": "小明", "session": "s1", "messages": messages })));
        assert!(!valid(params, &json!({ "user": "小明", "messages": [{ "role": "user" }] })));
        let mut marker = schema()["flush_marker"].clone();
        marker["$defs"] = schema()["$defs"].clone();
        assert!(valid(&marker, &json!({ "v": 1, "session_id": "s1", "messages": messages, "host": "x" })));
        assert!(!valid(&marker, &json!({ "session_id": "s1" })));
    }

    #[test]
    fn a_sweep_and_a_clearing_are_judged_as_the_daemon_judges_them() {
        let sweep = for_method(Method::Sweep);
        assert!(valid(&sweep["params"], &json!({ "user": "小明", "dry_run": true })));
        assert!(!valid(&sweep["params"], &json!({ "user": "小明", "day": "2026-03-13" })));
        let held = SweepResult { held: Some(SweepHeld::TooMuch), count: 3, of: 9, ..SweepResult::default() };
        assert!(valid(&sweep["result"], &serde_json::to_value(held).unwrap()));
        let clear = for_method(Method::Clear);
        assert!(valid(&clear["params"], &json!({ "user": "小明", "before": "2026-03-13", "files": true })));
        assert!(!valid(&clear["params"], &json!({ "user": "小明", "before": 3 })));
        let failed = NotCut { file: "memory/2026-03-13.md".into(), reason: "只读".into() };
        let cleared = ClearResult { not_cut: vec![failed], ..ClearResult::default() };
        assert!(valid(&clear["result"], &serde_json::to_value(cleared).unwrap()));
    }

    #[test]
    fn events_and_errors_that_are_sent_are_valid() {
        let whole = schema();
        let part = |name: &str| {
            let mut schema = whole[name].clone();
            schema["$defs"] = whole["$defs"].clone();
            schema
        };
        let event = serde_json::to_value(Event::Missed { events: 3 }).unwrap();
        assert!(valid(&part("event"), &event));
        assert!(!valid(&part("event"), &json!({ "event": "tea" })));
        let error = serde_json::to_value(Error::new(ErrorKind::TooLarge, "太长")).unwrap();
        assert!(valid(&part("error"), &error));
    }
}
