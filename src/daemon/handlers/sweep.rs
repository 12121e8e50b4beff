//! `sweep`: lets go what matters little and was long not used, now.

use super::convert;
use crate::daemon::core::Core;
use crate::memory::Audience;
use crate::service::sweep::{Held, How, sweep};
use crate::store::Why;
use crate::wire::sweep::{SweepHeld, SweepParams, SweepResult, SweepWhy, SweptItem};
use crate::wire::{Error, Event};

/// Sweeps, or says what would go.
pub async fn handle(core: &Core, params: SweepParams) -> Result<SweepResult, Error> {
    let scope = convert::scope(&params.user, Audience::Private)?;
    let how = How {
        unused_days: core.config.forgetting.unused_days,
        dry_run: params.dry_run,
        accept: params.accept,
        clock_believed: core.health.calendar().is_none_or(|outlook| outlook.doubt.is_none()),
    };
    let swept = sweep(&core.store, &core.clock, &scope, how).await.map_err(convert::sweep)?;
    let (memories, reasons): (Vec<_>, Vec<_>) = swept.memories.into_iter().unzip();
    let count = memories.len();
    if swept.done && count > 0 {
        tracing::info!(count, "swept on request");
        core.tell(Event::Forgotten { memories: count as u32 });
        if let Some(workspace) = core.workspace_of(scope.user()) {
            core.show_pages_anew(workspace).await.map_err(convert::ingest)?;
        }
    }
    let (items, more) = convert::page(memories, params.offset);
    let reasons = reasons.into_iter().skip(params.offset as usize).map(why);
    Ok(SweepResult {
        items: items.into_iter().zip(reasons).map(|(item, why)| SweptItem { item, why }).collect(),
        more,
        count: count as u64,
        of: swept.of,
        held: swept.held.map(|held| match held {
            Held::Clock => SweepHeld::Clock,
            Held::TooMuch => SweepHeld::TooMuch,
        }),
        done: swept.done,
    })
}

fn why(why: Why) -> SweepWhy {
    match why {
        Why::Unused => SweepWhy::Unused,
        Why::OldSummary => SweepWhy::OldSummary,
    }
}
