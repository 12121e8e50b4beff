use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use tokio::time::timeout;

use super::*;

/// Far longer than any hint takes; only a lost one waits so long.
const PATIENCE: Duration = Duration::from_secs(20);

struct Desk {
    folder: TempDir,
    root: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("openclaw/工作区");
        fs::create_dir_all(root.join("memory")).unwrap();
        Self { folder, root }
    }

    fn watch(&self) -> (Watcher, Hints) {
        Watcher::start(vec![Root { workspace: "甲".into(), path: self.root.clone() }])
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.root.join(file), text).unwrap();
    }

    fn append(&self, file: &str, text: &str) {
        let mut file = fs::OpenOptions::new().append(true).open(self.root.join(file)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// As editors save: another file, then a rename.
    fn save(&self, file: &str, text: &str) {
        self.write(".x.tmp", text);
        fs::rename(self.root.join(".x.tmp"), self.root.join(file)).unwrap();
    }

    /// All files hinted at until `marker`, which is written now and so comes last. `None`: a rescan came.
    async fn until(&self, hints: &mut Hints, marker: &str) -> Option<BTreeSet<String>> {
        self.write(marker, "- 记号\n");
        let mut seen = BTreeSet::new();
        while !seen.contains(marker) {
            match next(hints).await {
                Hint::Files { files, .. } => seen.extend(files),
                Hint::Markers { .. } => {}
                Hint::Rescan { .. } => return None,
            }
        }
        seen.remove(marker);
        Some(seen)
    }
}

async fn next(hints: &mut Hints) -> Hint {
    timeout(PATIENCE, hints.recv()).await.expect("no hint came").expect("the watcher stopped")
}

async fn rescan(hints: &mut Hints, wanted: Reason) {
    while !matches!(next(hints).await, Hint::Rescan { reason, .. } if reason == wanted) {}
}

fn only(file: &str) -> Option<BTreeSet<String>> {
    Some([file.to_owned()].into())
}

#[tokio::test]
async fn every_way_of_saving_a_note_is_hinted_and_temporary_files_never_are() {
    let desk = Desk::new();
    desk.write("MEMORY.md", "- 一\n");
    let (watcher, mut hints) = desk.watch();

    desk.save("MEMORY.md", "- 一\n- 二\n");
    desk.save("MEMORY.md", "- 一\n- 二\n- 三\n");
    assert_eq!(desk.until(&mut hints, "memory/1.md").await, only("MEMORY.md"));
    desk.save("MEMORY.md", "- 又一次\n");
    assert_eq!(desk.until(&mut hints, "memory/2.md").await, only("MEMORY.md"));
    desk.append("MEMORY.md", "- 四\n");
    assert_eq!(desk.until(&mut hints, "memory/3.md").await, only("MEMORY.md"));
    fs::remove_file(desk.root.join("MEMORY.md")).unwrap();
    assert_eq!(desk.until(&mut hints, "memory/4.md").await, only("MEMORY.md"));
    desk.write("MEMORY.md", "- 从头\n");
    assert_eq!(desk.until(&mut hints, "memory/5.md").await, only("MEMORY.md"));
    for temporary in ["memory/4913", "memory/2026-03-13.md~", "memory/.#2026-03-13.md", "memory/x.db-wal"] {
        desk.write(temporary, "- 不是笔记\n");
    }
    assert_eq!(desk.until(&mut hints, "memory/6.md").await, Some(BTreeSet::new()));

    let health = watcher.health();
    assert_eq!((health.mode, health.trouble), (Mode::NATIVE, None));
    assert!(health.last_event.is_some());
    drop(watcher);
    assert_eq!(timeout(PATIENCE, hints.recv()).await.unwrap(), None);
}

#[tokio::test]
async fn a_marker_is_hinted_from_the_moment_its_folder_exists() {
    let desk = Desk::new();
    let (_watcher, mut hints) = desk.watch();
    fs::create_dir(desk.root.join(".ocmemd")).unwrap();
    rescan(&mut hints, Reason::Rearmed).await;
    fs::create_dir(desk.root.join(".ocmemd/flush")).unwrap();
    rescan(&mut hints, Reason::Rearmed).await;
    desk.save(".ocmemd/flush/1.json", "{\"v\":1}");
    assert_eq!(next(&mut hints).await, Hint::Markers { workspace: "甲".into() });
    fs::remove_file(desk.root.join(".ocmemd/flush/1.json")).unwrap();
    assert_eq!(desk.until(&mut hints, "memory/记号.md").await, Some(BTreeSet::new()));
}

#[tokio::test]
async fn reading_the_notes_raises_no_hint() {
    let desk = Desk::new();
    for day in 1..=20 {
        desk.write(&format!("memory/2026-03-{day:02}.md"), "- 端口 8080\n");
    }
    let (_watcher, mut hints) = desk.watch();
    for day in fs::read_dir(desk.root.join("memory")).unwrap() {
        fs::read(day.unwrap().path()).unwrap();
    }
    assert_eq!(desk.until(&mut hints, "memory/记号.md").await, Some(BTreeSet::new()));
}

#[tokio::test]
async fn a_folder_made_together_with_its_notes_is_looked_through() {
    let desk = Desk::new();
    let (_watcher, mut hints) = desk.watch();
    fs::create_dir_all(desk.root.join("memory/项目/网关")).unwrap();
    desk.write("memory/项目/网关/端口.md", "- 端口 8080\n");
    rescan(&mut hints, Reason::Folder).await;

    while desk.until(&mut hints, "memory/项目/网关/后来.md").await.is_none() {}
    fs::rename(desk.root.join("memory/项目"), desk.root.join("memory/旧项目")).unwrap();
    rescan(&mut hints, Reason::Folder).await;
}

#[tokio::test]
async fn a_root_that_is_replaced_is_watched_again() {
    let desk = Desk::new();
    let (watcher, mut hints) = desk.watch();
    let aside = desk.folder.path().join("一边");

    fs::rename(&desk.root, &aside).unwrap();
    rescan(&mut hints, Reason::Rearmed).await;
    fs::create_dir_all(desk.root.join("memory")).unwrap();
    rescan(&mut hints, Reason::Rearmed).await;
    while desk.until(&mut hints, "memory/新的.md").await.is_none() {}
    fs::write(aside.join("memory/旧的.md"), "- 已经搬走\n").unwrap();
    assert_eq!(desk.until(&mut hints, "memory/记号.md").await, Some(BTreeSet::new()));

    fs::remove_dir_all(desk.root.parent().unwrap()).unwrap();
    rescan(&mut hints, Reason::Rearmed).await;
    fs::rename(&aside, desk.folder.path().join("又一边")).unwrap();
    fs::create_dir_all(desk.root.join("memory")).unwrap();
    rescan(&mut hints, Reason::Rearmed).await;
    while desk.until(&mut hints, "memory/最后.md").await.is_none() {}
    assert_eq!(watcher.health().trouble, None);
}

#[tokio::test]
async fn a_workspace_that_does_not_exist_yet_is_awaited() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk { root: folder.path().join("还没有/工作区"), folder };
    let (_watcher, mut hints) = desk.watch();
    fs::create_dir_all(desk.root.join("memory")).unwrap();
    rescan(&mut hints, Reason::Rearmed).await;
    while desk.until(&mut hints, "memory/第一天.md").await.is_none() {}
}

#[tokio::test]
async fn a_thousand_files_at_once_are_none_too_few() {
    let desk = Desk::new();
    let (_watcher, mut hints) = desk.watch();
    let all: BTreeSet<String> = (0..1000).map(|number| format!("memory/{number}.md")).collect();
    all.iter().for_each(|file| desk.write(file, "- 忆\n"));
    let mut seen = BTreeSet::new();
    while seen != all {
        match next(&mut hints).await {
            Hint::Files { files, .. } => seen.extend(files),
            Hint::Markers { .. } => {}
            Hint::Rescan { reason, .. } => {
                assert_eq!(reason, Reason::Many);
                break;
            }
        }
    }
}

#[tokio::test]
async fn workspaces_are_told_apart() {
    let (one, two) = (Desk::new(), Desk::new());
    let root = |workspace: &str, desk: &Desk| Root { workspace: workspace.into(), path: desk.root.clone() };
    let (_watcher, mut hints) = Watcher::start(vec![root("甲", &one), root("乙", &two)]);
    two.write("USER.md", "- 住在上海\n");
    let files = ["USER.md".to_owned()].into();
    assert_eq!(next(&mut hints).await, Hint::Files { workspace: "乙".into(), files });
}

#[test]
fn limits_are_named_with_the_way_out() {
    let full = notify::Error::new(ErrorKind::MaxFilesWatch);
    let text = WatchError::new(Path::new("/工作区"), &full).to_string();
    assert!(text.contains("fs.inotify.max_user_watches") && text.contains("sudo sysctl"), "{text}");
    let busy = notify::Error::io(std::io::Error::from_raw_os_error(24));
    let text = WatchError::new(Path::new("/工作区"), &busy).to_string();
    assert!(text.contains("fs.inotify.max_user_instances") && text.contains("sudo sysctl"), "{text}");
    let shut = notify::Error::io(std::io::Error::from_raw_os_error(13));
    assert!(WatchError::new(Path::new("/工作区"), &shut).to_string().contains("/工作区"));
}

/// Runs where the kernel lets an ordinary user make a user namespace, which has limits of its own.
#[cfg(target_os = "linux")]
#[test]
fn a_reached_limit_means_polling_until_it_is_raised() {
    let script = "echo 1 > /proc/sys/user/max_inotify_watches && exec \"$0\" --ignored --exact \
                  watch::tests::inside_a_namespace_with_one_watch";
    let inside = |script: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "sh", "-c", script]).arg(std::env::current_exe().unwrap());
        unshare.output()
    };
    if inside("echo 1 > /proc/sys/user/max_inotify_watches").is_ok_and(|probe| probe.status.success()) {
        let output = inside(script).unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "run by the test above, inside a namespace"]
async fn inside_a_namespace_with_one_watch() {
    let desk = Desk::new();
    let (watcher, mut hints) = desk.watch();
    let health = watcher.health();
    assert_eq!((health.mode, health.trouble), (Mode::Polling, Some(WatchError::Watches)));
    fs::write("/proc/sys/user/max_inotify_watches", "100").unwrap();
    watcher.rearm();
    assert_eq!(watcher.health().mode, Mode::Inotify);
    assert_eq!(desk.until(&mut hints, "memory/记号.md").await, Some(BTreeSet::new()));
}
