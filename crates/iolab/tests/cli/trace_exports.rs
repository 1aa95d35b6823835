//! A trace's figures in files for other programs.

use std::fs;

use serde_json::Value;

use crate::cli_support::Home;

/// A log with everything that a row tells: small calls, syncs, looks by name, a file that is not there, a
/// library, and a name with commas and quotes.
const LOG: &str = "\
9 1.000000 openat(AT_FDCWD</w>, \"/usr/lib/x.so\", O_RDONLY) = 3</usr/lib/x.so> <0.000010>
9 1.000100 fstat(3</usr/lib/x.so>, {st_mode=S_IFREG|0644, st_size=9000, ...}) = 0 <0.000010>
9 1.000200 read(3</usr/lib/x.so>, \"\"..., 8192) = 8192 <0.000010>
9 1.000300 pread64(3</usr/lib/x.so>, \"\"..., 4096, 0) = 4096 <0.000010>
9 1.000400 close(3</usr/lib/x.so>) = 0 <0.000010>
9 1.000500 openat(AT_FDCWD</w>, \"=1+1,\\\"x\\\"\", O_WRONLY|O_CREAT|O_EXCL, 0666) = 4</w/=1+1,\\\"x\\\"> <0.000010>
9 1.000600 write(4</w/=1+1,\\\"x\\\">, \"\"..., 7) = 7 <0.000010>
9 1.000700 write(4</w/=1+1,\\\"x\\\">, \"\"..., 7) = 7 <0.000010>
9 1.000800 fsync(4</w/=1+1,\\\"x\\\">) = 0 <0.004000>
9 1.005000 stat(\"/w/none\", 0x7f) = -1 ENOENT (No such file or directory) <0.000010>
9 1.005100 sync() = 0 <0.003000>
";

/// The table lacked `of_start`: who took it for the program's own files had those of its start in it, too.
#[test]
fn a_table_of_files_says_what_json_says_of_each() {
    let home = Home::new();
    fs::write(home.path("all.log"), LOG).unwrap();
    home.run(&["import", "all.log"]).fine();
    home.run(&["export", "all.trace", "csv=files.csv", "json=all.json"]).fine();
    let json: Value = serde_json::from_slice(&fs::read(home.path("all.json")).unwrap()).unwrap();
    let rows = json["files"].as_array().unwrap();
    let mut table = csv::Reader::from_path(home.path("files.csv")).unwrap();
    let head = table.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    assert_eq!((records.len(), rows.len()), (4, 4), "{json}");
    for (row, record) in rows.iter().zip(&records) {
        let fields = row.as_object().unwrap();
        assert_eq!(head.len(), fields.len(), "{head:?}");
        for (key, value) in fields {
            let column = head.iter().position(|name| name == key.replace("name", "file"));
            let said = &record[column.unwrap_or_else(|| panic!("no {key} in {head:?}"))];
            let meant = match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                Value::Number(number) if number.is_f64() => number.as_f64().unwrap().to_string(),
                other => other.to_string(),
            };
            assert_eq!(said, meant, "{key} of {row}");
        }
    }
    let of = |name: &str| {
        let row = rows.iter().find(|row| row["name"].as_str().unwrap().ends_with(name)).unwrap();
        ["of_start", "opens", "small_writes", "syncs", "looked_up", "read_again_bytes", "first_ns"]
            .map(|key| row[key].clone())
    };
    let counts = [1, 2, 1, 0, 0, 500_000].map(Value::from);
    assert_eq!((&of("\"x\"")[0], &of("\"x\"")[1..]), (&false.into(), &counts[..]));
    assert_eq!(of("x.so")[0], Value::Bool(true));
    assert_eq!((&of("x.so")[5], &of("none")[4]), (&4096.into(), &1.into()));
    assert_eq!(of("(no file)")[3], 1, "sync is one of no file");
}
