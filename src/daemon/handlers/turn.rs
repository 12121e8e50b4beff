//! `turn`: keeps a finished turn of a conversation.

use super::convert;
use crate::daemon::core::Core;
use crate::service::turn::Spoken;
use crate::wire::Error;
use crate::wire::turn::{MAX_MESSAGES, TurnMessage, TurnParams, TurnResult};

/// Answers when all that is new of the turn is durable; what follows from it is done later.
pub async fn handle(core: &Core, params: TurnParams) -> Result<TurnResult, Error> {
    let scope = convert::scope(&params.user, params.audience)?;
    let session = convert::host_id("session", params.session)?;
    let turn = params.turn.map(|turn| convert::host_id("turn", turn)).transpose()?;
    let messages = params.messages.len();
    if !(1..=MAX_MESSAGES).contains(&messages) {
        let reason =
            format!("1 to {MAX_MESSAGES} messages, these are {messages}: send only those that are new");
        return Err(convert::invalid("messages", reason));
    }
    let spoken = params.messages.into_iter().enumerate().map(|(at, message)| spoken(at, message));
    let spoken = spoken.collect::<Result<Vec<_>, _>>()?;
    let kept = core.turns.keep(&scope, &session, turn, spoken).await.map_err(convert::store)?;
    if kept.stored > 0 {
        core.talked.notify_one();
    }
    Ok(TurnResult {
        stored: kept.stored,
        known: kept.known,
        passed_over: kept.passed_over,
        redacted: kept.redacted,
    })
}

fn spoken(at: usize, message: TurnMessage) -> Result<Spoken, Error> {
    let TurnMessage { role, content, id, at: said } = message;
    convert::bounded(&format!("messages[{at}].content"), &content)?;
    let id = id.map(|id| convert::host_id(&format!("messages[{at}].id"), id)).transpose()?;
    Ok(Spoken { id, role, content, at: said })
}
