//! `rollup` and `promote`: the calendar's work, now.

use std::sync::Arc;

use super::convert;
use crate::daemon::core::Core;
use crate::memory::calendar::Week;
use crate::memory::{Audience, Scope};
use crate::service::ingest::name_of;
use crate::service::rollup::Rolled;
use crate::wire::Error;
use crate::wire::rollup::{PromoteParams, PromoteResult, RollupParams, RollupResult, WeeklyPage};
use crate::workspace::Workspace;

/// Weeks that one request may ask for: ten years.
const MAX_WEEKS: usize = 522;

/// Makes the pages of the weeks that are asked for, in each workspace of the user.
pub async fn rollup(core: &Arc<Core>, params: RollupParams) -> Result<RollupResult, Error> {
    let this_week = Week::of(core.clock.today());
    let weeks: Vec<Week> = match (&params.week, params.since) {
        (Some(_), Some(_)) => return Err(convert::invalid("since", "give either a week or a day, not both")),
        (Some(week), None) => vec![week_of(week)?],
        (None, None) => vec![this_week],
        (None, Some(since)) => std::iter::successors(Some(Week::of(since)), |week| Some(week.next()))
            .take_while(|week| *week <= this_week)
            .take(MAX_WEEKS + 1)
            .collect(),
    };
    if weeks.len() > MAX_WEEKS {
        return Err(convert::invalid("since", format!("at most {MAX_WEEKS} weeks at once")));
    }
    let mut result = RollupResult { pages: Vec::new(), written: !params.dry_run };
    for workspace in workspaces(core, &params.user)? {
        for week in &weeks {
            let rolled = core.roll_up(workspace, *week, params.dry_run).await.map_err(convert::written)?;
            result.pages.extend(rolled.map(|rolled| page(workspace, rolled)));
        }
    }
    Ok(result)
}

/// Promotes from a week, in each workspace of the user.
pub async fn promote(core: &Arc<Core>, params: PromoteParams) -> Result<PromoteResult, Error> {
    let week = match &params.week {
        Some(week) => week_of(week)?,
        None => Week::of(core.clock.today()),
    };
    let mut result = PromoteResult { written: !params.dry_run, ..PromoteResult::default() };
    for workspace in workspaces(core, &params.user)? {
        let promoted = core.promote(workspace, week, params.dry_run).await.map_err(convert::written)?;
        result.promoted.extend(promoted.synced);
        result.archived.extend(promoted.archived);
        result.doubts.extend(promoted.doubts);
    }
    Ok(result)
}

fn workspaces<'c>(core: &'c Core, user: &str) -> Result<Vec<&'c Workspace>, Error> {
    let scope: Scope = convert::scope(user, Audience::Private)?;
    let own: Vec<&Workspace> =
        core.workspaces.iter().filter(|workspace| workspace.owner() == scope.user()).collect();
    if own.is_empty() {
        return Err(convert::invalid(
            "user",
            "no workspace is this user's: pages are made of a workspace's notes",
        ));
    }
    Ok(own)
}

fn week_of(text: &str) -> Result<Week, Error> {
    text.parse().map_err(|error| convert::invalid("week", error))
}

fn page(workspace: &Workspace, rolled: Rolled) -> WeeklyPage {
    WeeklyPage {
        workspace: name_of(workspace),
        week: rolled.week.to_string(),
        file: rolled.file,
        changed: rolled.changed,
        lines: rolled.lines,
        notes_chars: rolled.notes_chars,
        page_chars: rolled.after.chars().count() as u64,
        left_out: rolled.left_out,
        before: rolled.before,
        after: rolled.after,
    }
}
