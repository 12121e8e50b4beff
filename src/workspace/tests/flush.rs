//! Markers are read within their limits, and what is none is moved aside with its reason.

use super::*;

const FOLDER: &str = ".ocmemd/flush";

fn marked() -> (TempDir, Workspace) {
    let (folder, ws) = workspace();
    ws.make_marker_folder().unwrap();
    (folder, ws)
}

fn drop_marker(ws: &Workspace, name: &str, bytes: impl AsRef<[u8]>) {
    put(ws, &format!("{FOLDER}/{name}"), bytes);
}

fn names(markers: &Markers) -> Vec<&str> {
    markers.whole.iter().map(|marker| marker.name.as_str()).collect()
}

fn reason(ws: &Workspace, name: &str) -> String {
    fs::read_to_string(ws.root().join(FOLDER).join("rejected").join(format!("{name}.reason.txt"))).unwrap()
}

#[test]
fn markers_are_read_in_the_order_of_their_names_and_temporary_files_never() {
    let (_folder, ws) = marked();
    drop_marker(
        &ws,
        "2.json",
        r#"{"v":1,"session_id":"s1","messages":[{"role":"user","content":"端口是 1"}]}"#,
    );
    drop_marker(&ws, "1.flush", "");
    for temporary in [".3.json", "3.json.tmp", "3.json~", "说明.txt"] {
        drop_marker(&ws, temporary, "{");
    }
    let found = ws.markers(None).unwrap();
    assert_eq!((names(&found), found.rejected.len()), (vec!["1.flush", "2.json"], 0));
    assert_eq!(found.whole[1].says.messages[0].content, "端口是 1");
    ws.remove_marker(&found.whole[0]).unwrap();
    ws.remove_marker(&found.whole[0]).unwrap();
    // Another one took the name since.
    put(&ws, "new", r#"{"v":1}"#);
    fs::rename(ws.root().join("new"), ws.root().join(FOLDER).join("2.json")).unwrap();
    ws.remove_marker(&found.whole[1]).unwrap();
    assert_eq!(names(&ws.markers(None).unwrap()), ["2.json"]);
    let mode = fs::metadata(ws.root().join(FOLDER)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn what_is_no_marker_is_kept_aside_with_its_reason() {
    let (folder, ws) = marked();
    let secret = "{\"v\":1,\"messages\":[{\"role\":5,\"content\":\"密码是 hunter2hunter2\"}]}";
    drop_marker(&ws, "half.json", "{\"v\":1,\"mess");
    drop_marker(&ws, "empty.json", "");
    drop_marker(&ws, "text.flush", "全部");
    drop_marker(&ws, "field.json", secret);
    drop_marker(&ws, "gbk.json", b"{\"v\":1,\"reason\":\"\xc4\xe3\"}");
    drop_marker(&ws, "big.json", vec![b' '; MAX_MARKER_BYTES as usize + 1]);
    fs::create_dir(ws.root().join(FOLDER).join("folder.json")).unwrap();
    fs::write(folder.path().join("secret.json"), "{\"v\":1}").unwrap();
    symlink(folder.path().join("secret.json"), ws.root().join(FOLDER).join("link.json")).unwrap();
    let found = ws.markers(None).unwrap();
    assert_eq!((found.whole.len(), found.rejected.len(), found.unread.len()), (0, 8, 0));
    for (name, why) in [
        ("half.json", "not JSON"),
        ("empty.json", "not JSON"),
        ("text.flush", "not JSON"),
        ("field.json", "messages[0].role"),
        ("gbk.json", "UTF-8"),
        ("big.json", "1048577 bytes"),
        ("folder.json", "ordinary file"),
        ("link.json", "symbolic link"),
    ] {
        let reason = reason(&ws, name);
        assert!(reason.contains(name) && reason.contains(why) && !reason.contains("hunter2"), "{reason}");
    }
    let kept = |name: &str| fs::read(ws.root().join(FOLDER).join("rejected").join(name)).unwrap();
    assert_eq!(kept("field.json"), secret.as_bytes());
    assert!(
        fs::read_to_string(folder.path().join("secret.json")).is_ok(),
        "the link went, not what it led to"
    );

    drop_marker(&ws, "half.json", "[");
    let long = format!("{}.json", "长".repeat(80));
    drop_marker(&ws, &long, "[");
    drop_marker(&ws, "换\n行.json", r#"{"v":1}"#);
    let rejected = ws.markers(None).unwrap().rejected;
    assert_eq!((rejected.len(), rejected[0].as_str()), (3, "half-2.json"));
    assert!(rejected[1..].iter().all(|name| name.starts_with("marker-")), "{rejected:?}");
    assert_eq!((kept("half.json"), kept("half-2.json")), (b"{\"v\":1,\"mess".to_vec(), b"[".to_vec()));
    assert!(reason(&ws, "half-2.json").contains("half-2.json"));
    assert_eq!(ws.markers(None).unwrap(), Markers::default());
}

#[test]
fn a_marker_of_another_user_or_without_rights_is_not_read() {
    let (_folder, ws) = marked();
    drop_marker(&ws, "foreign.json", r#"{"v":1}"#);
    // Only the administrator can give files away.
    if std::os::unix::fs::chown(ws.root().join(FOLDER).join("foreign.json"), Some(12_345), None).is_ok() {
        assert_eq!(ws.markers(None).unwrap().rejected, ["foreign.json"]);
        assert!(reason(&ws, "foreign.json").contains("12345"));
    }
    drop_marker(&ws, "shut.json", r#"{"v":1}"#);
    let shut = ws.root().join(FOLDER).join("shut.json");
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever may read everything sees no difference.
    if fs::read(&shut).is_err() {
        assert_eq!(ws.markers(None).unwrap().rejected, ["shut.json"]);
    }
}

#[test]
fn many_markers_are_taken_a_few_at_a_time_and_a_link_for_the_folder_is_refused() {
    let (folder, ws) = marked();
    for number in 0..MAX_MARKERS + 3 {
        drop_marker(&ws, &format!("{number:03}.json"), r#"{"v":1}"#);
    }
    let first = ws.markers(None).unwrap();
    assert_eq!((first.whole.len(), first.more_after.as_deref()), (MAX_MARKERS, Some("063.json".as_ref())));
    let second = ws.markers(first.more_after.as_deref()).unwrap();
    assert_eq!(
        (names(&second), second.more_after.as_deref()),
        (vec!["064.json", "065.json", "066.json"], None)
    );

    fs::remove_dir_all(ws.root().join(FOLDER)).unwrap();
    fs::create_dir(folder.path().join("别处")).unwrap();
    symlink(folder.path().join("别处"), ws.root().join(FOLDER)).unwrap();
    assert!(ws.markers(None).is_err() && ws.make_marker_folder().is_err());
    let away = Workspace::new(folder.path().join("没有"), UserId::new("主人").unwrap());
    assert!(matches!(away.make_marker_folder(), Err(WorkspaceError::Unreachable(_))));
}
