//! The daemon's one timer. Its jobs only send ticks; what is due at a tick is decided by whoever receives it, from
//! what ran last. So a tick that is late, early or missed (the machine slept) does no harm.

use tokio::sync::mpsc::Sender;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

/// A reminder. What of, is known to whoever listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick;

/// Why the timer could not be started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// An expression that is none.
    #[error(
        "{expression:?} is not a schedule: six fields are needed (second minute hour day month weekday), such as \"*/30 * * * * *\" or \"0 59 23 * * SUN\""
    )]
    Expression {
        /// As it was given.
        expression: String,
    },
    /// The scheduler itself failed.
    #[error("the timer failed: {0}")]
    Timer(#[from] JobSchedulerError),
}

/// The running timer.
pub struct Schedule {
    timer: JobScheduler,
}

impl Schedule {
    /// Sends a tick to each listener whenever his cron expression (six fields, seconds first, in UTC) says so.
    ///
    /// # Errors
    /// [`ScheduleError::Expression`] names the expression that is none; nothing is running then.
    pub async fn start(listeners: &[(&str, Sender<Tick>)]) -> Result<Self, ScheduleError> {
        let jobs = listeners.iter().map(|(expression, sender)| job(expression, sender.clone()));
        let jobs = jobs.collect::<Result<Vec<_>, _>>()?;
        let timer = JobScheduler::new().await?;
        for job in jobs {
            timer.add(job).await?;
        }
        timer.start().await?;
        Ok(Self { timer })
    }

    /// Stops the timer: within half a second nothing is sent any more.
    ///
    /// # Errors
    /// [`ScheduleError::Timer`] when the scheduler refuses.
    pub async fn shutdown(mut self) -> Result<(), ScheduleError> {
        Ok(self.timer.shutdown().await?)
    }
}

fn job(expression: &str, sender: Sender<Tick>) -> Result<Job, ScheduleError> {
    let send = move |_, _| {
        // A full queue means that a reminder is waiting already.
        let _ = sender.try_send(Tick);
    };
    Job::new(expression, send).map_err(|error| match error {
        JobSchedulerError::ParseSchedule => ScheduleError::Expression { expression: expression.to_owned() },
        other => ScheduleError::Timer(other),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn ticks_arrive_even_when_some_were_not_fetched() {
        let (sender, mut receiver) = mpsc::channel(1);
        let schedule = Schedule::start(&[("* * * * * *", sender)]).await.unwrap();
        for _ in 0..2 {
            assert_eq!(timeout(Duration::from_secs(10), receiver.recv()).await.unwrap(), Some(Tick));
        }
        schedule.shutdown().await.unwrap();
    }

    #[tokio::test]
    async fn a_wrong_expression_is_named() {
        for wrong in ["每天一次", "*/30 * * * *", "61 * * * * *", ""] {
            let (sender, _receiver) = mpsc::channel(1);
            let error = Schedule::start(&[(wrong, sender)]).await.err().unwrap();
            assert!(
                matches!(&error, ScheduleError::Expression { expression } if expression == wrong),
                "{error}"
            );
            assert!(error.to_string().contains(&format!("{wrong:?}")));
        }
    }
}
