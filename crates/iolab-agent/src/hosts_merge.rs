//! What the agents of several machines say, as one: what all of them have, and what is known of each.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;

use super::messages::{LookOrder, Objection, Reply, Request, Sight, SurveyOrder};
use iolab_model::catalog::{Code, Fact, Factor, host_text, list_text};
use iolab_model::plan::Facts;
use iolab_model::result::{Environment, Fault, Warning};

/// What each machine is asked, where all of them are: none of them needs to know of the others.
pub fn parts_of(request: &Request, hosts: &[String]) -> Vec<Request> {
    let part = |host: &String| match request {
        Request::Survey(order) => {
            let mut order = SurveyOrder::clone(order);
            order.levels.retain(|levels| levels.get(Factor::Host).is_none());
            Request::Survey(order.into())
        }
        Request::Look(order) => {
            let before = order.before.as_ref().map(|before| before.of_host(host));
            Request::Look(LookOrder { before, ..LookOrder::clone(order) }.into())
        }
        other => other.clone(),
    };
    hosts.iter().map(part).collect()
}

/// All answers as one. What one of them refuses is refused.
pub fn together(request: &Request, all: Vec<(String, Reply)>) -> Reply {
    let mut surveyed = Vec::new();
    let mut seen = Vec::new();
    let mut started: Option<Reply> = None;
    for (host, reply) in all {
        match reply {
            Reply::Refused(_) | Reply::Lost(_) => return reply,
            Reply::Objected(no) => {
                let text = format!("on {}: {}", host_text(&host), no.text);
                return Reply::Objected(Objection { text, ..no });
            }
            Reply::Surveyed(facts) => surveyed.push((host, *facts)),
            Reply::Seen(sight) => seen.push((host, *sight)),
            other => started = Some(coarser(started, other)),
        }
    }
    if !surveyed.is_empty() {
        return Reply::Surveyed(Box::new(facts(surveyed)));
    }
    if !seen.is_empty() {
        // That they differ was told at the first look.
        let again = matches!(request, Request::Look(order) if order.before.is_some());
        return Reply::Seen(Box::new(sight(seen, !again)));
    }
    started.unwrap_or(Reply::Refused(Fault::new("ask the machines", "none has answered")))
}

/// Trials of all machines are long enough for the coarsest clock among them.
fn coarser(first: Option<Reply>, other: Reply) -> Reply {
    match (first, other) {
        (
            Some(Reply::Started { clock_resolution_ns: step, clock_cost_ns: cost, scratch }),
            Reply::Started { clock_resolution_ns, clock_cost_ns, .. },
        ) => Reply::Started {
            clock_resolution_ns: step.max(clock_resolution_ns),
            clock_cost_ns: cost.max(clock_cost_ns),
            scratch,
        },
        (_, other) => other,
    }
}

/// What all of them have, and each by its name.
fn facts(all: Vec<(String, Facts)>) -> Facts {
    let mut hosts: BTreeMap<String, Facts> = all.into_iter().collect();
    same_everywhere(&mut hosts, |facts| &mut facts.files, |bytes| format!("{bytes} bytes"));
    same_everywhere(
        &mut hosts,
        |facts| &mut facts.trees,
        |tree| format!("{} files of {} bytes in all", tree.files, tree.bytes),
    );
    same_everywhere(
        &mut hosts,
        |facts| &mut facts.traces,
        |trace| format!("a trace of {} bytes", trace.bytes),
    );
    let mut each = hosts.values();
    let Some(first) = each.next() else { return Facts::default() };
    let mut whole = first.clone();
    for other in each {
        least(&mut whole, other);
    }
    whole.hosts = hosts;
    whole
}

/// What a default may rest on: the machine that has least of it.
fn least(whole: &mut Facts, other: &Facts) {
    whole.free_bytes = whole.free_bytes.min(other.free_bytes);
    whole.free_inodes = whole.free_inodes.min(other.free_inodes);
    whole.available_memory_bytes = whole.available_memory_bytes.min(other.available_memory_bytes);
    whole.last_level_cache_bytes = whole.last_level_cache_bytes.max(other.last_level_cache_bytes);
    whole.page_bytes = whole.page_bytes.max(other.page_bytes);
    whole.least_limit_bytes = whole.least_limit_bytes.max(other.least_limit_bytes);
    whole.processors = whole.processors.min(other.processors);
    whole.may_drop_caches |= other.may_drop_caches;
    whole.unavailable.retain(|part, _| other.unavailable.contains_key(part));
}

type OnHost<V> = (String, Result<V, String>);
type Known<V> = BTreeMap<PathBuf, Result<V, String>>;

/// A file of one size here and of another there is no contest, nor is one that is on some of them only.
fn same_everywhere<V: Clone + PartialEq>(
    hosts: &mut BTreeMap<String, Facts>,
    of: fn(&mut Facts) -> &mut Known<V>,
    text: fn(&V) -> String,
) {
    let mut all: BTreeMap<PathBuf, Vec<OnHost<V>>> = BTreeMap::new();
    for (host, facts) in hosts.iter_mut() {
        for (path, seen) in of(facts) {
            all.entry(path.clone()).or_default().push((host.clone(), seen.clone()));
        }
    }
    for (path, seen) in all {
        let same = seen.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let missing = seen.iter().find_map(|(host, seen)| Some((host, seen.as_ref().err()?)));
        let why = match missing {
            Some((host, why)) => format!("on {}: {why}", host_text(host)),
            None if same => continue,
            None => {
                let each = seen.iter().filter_map(|(host, seen)| {
                    Some(format!("{} on {}", text(seen.as_ref().ok()?), host_text(host)))
                });
                let each = each.collect::<Vec<_>>().join(", ");
                format!(
                    "{} is not the same: {each}; machines are compared by files of one size",
                    path.display()
                )
            }
        };
        for facts in hosts.values_mut() {
            of(facts).insert(path.clone(), Err(why.clone()));
        }
    }
}

/// The facts of all, what differs among them, and what can spoil a result on any.
fn sight(all: Vec<(String, Sight)>, compared: bool) -> Sight {
    let mut whole = Sight::default();
    let mut each = Vec::new();
    let mut versions: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let count = all.len();
    let mut hazards: Vec<(Warning, Vec<String>)> = Vec::new();
    for (host, sight) in all {
        for hazard in sight.hazards {
            match hazards.iter_mut().find(|(known, _)| *known == hazard) {
                Some((_, hosts)) => hosts.push(host.clone()),
                None => hazards.push((hazard, vec![host.clone()])),
            }
        }
        for (program, version) in sight.versions {
            versions.entry(program).or_default().push((host.clone(), version));
        }
        each.push((host, sight.environment));
    }
    // What is so on all of them is said once.
    let of = |(hazard, hosts): (Warning, Vec<String>)| match hosts.len() == count {
        true => hazard,
        false => {
            let names: Vec<&str> = hosts.iter().map(|host| host_text(host)).collect();
            let text = format!("on {}: {}", list_text(&names), hazard.text);
            Warning { text, ..hazard }
        }
    };
    whole.hazards.extend(hazards.into_iter().map(of));
    let said = |all: Vec<(String, String)>| match all.windows(2).all(|pair| pair[0].1 == pair[1].1)
    {
        true => all.into_iter().next().map(|(_, version)| version).unwrap_or_default(),
        false => by_host(&all),
    };
    whole.versions = versions.into_iter().map(|(program, all)| (program, said(all))).collect();
    whole.hazards.extend(differences(&each).filter(|_| compared));
    whole.environment = Environment::of_hosts(&each);
    whole
}

/// What may explain why one machine is faster than another, in the words of a person.
const EXPLAINS: &[(Fact, &str)] = &[
    (Fact::KernelRelease, "kernel"),
    (Fact::HostMachine, "architecture"),
    (Fact::CpuModel, "processor"),
    (Fact::CpuCount, "processors"),
    (Fact::MemoryTotalBytes, "memory"),
    (Fact::MountFsType, "file system"),
    (Fact::MountOptions, "mount options"),
    (Fact::DeviceName, "device"),
    (Fact::DeviceModel, "model of the device"),
    (Fact::DeviceRotational, "rotational"),
    (Fact::DeviceScheduler, "scheduler"),
    (Fact::DeviceReadAheadBytes, "read-ahead"),
    (Fact::PageBytes, "page"),
    (Fact::ThpEnabled, "huge pages"),
    (Fact::Virtualisation, "virtual machine"),
    (Fact::Container, "container"),
    (Fact::Libc, "C library"),
    (Fact::IolabBuild, "build of iolab"),
];

fn differences(all: &[(String, Environment)]) -> Option<Warning> {
    let said = EXPLAINS.iter().filter_map(|(fact, word)| {
        let values = all.iter().map(|(_, facts)| facts.get(*fact));
        let known: Vec<_> = values.collect::<Option<_>>()?;
        let differs = known.windows(2).any(|pair| fact.differs(pair[0], pair[1]));
        let text = |value: &serde_json::Value| match value.as_str() {
            Some(text) => text.to_owned(),
            None => value.to_string(),
        };
        let each = all.iter().zip(&known).map(|((host, _), value)| (host, text(value)));
        differs.then(|| format!("{word}: {}", by_host(&each.collect::<Vec<_>>())))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| Warning { code: Code::HostsDiffer, text: said.join("; ") })
}

/// `6.1 (a), 6.12 (b)`.
fn by_host<H: Display, V: Display>(all: &[(H, V)]) -> String {
    all.iter().map(|(host, value)| format!("{value} ({host})")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{parts_of, together};
    use crate::{LookOrder, Reply, Request, Sight, SurveyOrder};
    use iolab_model::catalog::{Code, Fact, Factor, Level, Levels};
    use iolab_model::plan::Facts;
    use iolab_model::result::{Environment, Warning};

    fn hosts<T>(replies: [T; 2], reply: fn(T) -> Reply) -> Vec<(String, Reply)> {
        let names = ["this", "nas"].map(str::to_owned);
        names.into_iter().zip(replies.map(reply)).collect()
    }

    fn survey() -> Request {
        let levels = vec![
            Levels::new().with(Factor::Host, Level::word("nas")),
            Levels::new().with(Factor::Block, Level::Number(4096)),
        ];
        let (version, workload, directory) = (String::new(), "read".to_owned(), "/srv".to_owned());
        Request::Survey(SurveyOrder { version, workload, directory, levels, cpus: vec![] }.into())
    }

    /// A method that one machine lacks was missing on both, and a default file was too large for the
    /// smaller one.
    #[test]
    fn each_machine_has_what_it_has_and_defaults_fit_all() {
        let mut one = Facts { free_bytes: 900, processors: 8, ..Facts::default() };
        one.unavailable.insert("io_uring".into(), "no".into());
        let mut other = Facts { free_bytes: 500, page_bytes: 65_536, ..Facts::default() };
        let file = PathBuf::from("/data/f");
        one.files.insert(file.clone(), Ok(5));
        other.files.insert(file.clone(), Ok(6));
        let surveyed = |facts| Reply::Surveyed(Box::new(facts));
        let Reply::Surveyed(whole) = together(&survey(), hosts([one, other], surveyed)) else {
            panic!("no facts")
        };
        assert_eq!((whole.free_bytes, whole.page_bytes, whole.processors), (500, 65_536, 0));
        assert!(whole.unavailable.is_empty(), "nas has it");
        assert_eq!(whole.hosts["this"].unavailable["io_uring"], "no");
        for facts in whole.hosts.values().chain([&*whole]) {
            let why = facts.files[&file].clone().unwrap_err();
            assert!(why.contains("6 bytes on nas, 5 bytes on this machine"), "{why}");
        }
        // No agent is asked about the names of machines.
        let parts = parts_of(&survey(), &["this".to_owned()]);
        let [Request::Survey(order)] = &parts[..] else { panic!("{parts:?}") };
        assert_eq!(order.levels.len(), 1);
    }

    #[test]
    fn what_differs_is_told_at_the_first_look_alone() {
        let sight = |kernel: &str, busy: bool| {
            let mut environment = Environment::default();
            environment.put(Fact::KernelRelease, kernel);
            environment.put(Fact::CpuCount, 4);
            let warning = |code, text: &str| Warning { code, text: text.to_owned() };
            let mut hazards = vec![warning(Code::Virtualised, "a virtual machine")];
            hazards.extend(busy.then(|| warning(Code::BusyMachine, "load 9")));
            Sight { environment, hazards, ..Sight::default() }
        };
        let look = |before| {
            let request = Request::Look(LookOrder { before, ..LookOrder::default() }.into());
            let all = hosts([sight("6.1", false), sight("6.12", true)], |s| Reply::Seen(s.into()));
            match together(&request, all) {
                Reply::Seen(sight) => sight,
                other => panic!("{other:?}"),
            }
        };
        let seen = look(None);
        let said: Vec<&str> = seen.hazards.iter().map(|hazard| hazard.text.as_str()).collect();
        let differ = "kernel: 6.1 (this), 6.12 (nas)";
        assert_eq!(said, ["a virtual machine", "on nas: load 9", differ]);
        assert_eq!(seen.environment.number(Fact::CpuCount), Some(4));
        let again = look(Some(seen.environment.clone()));
        assert!(again.hazards.iter().all(|hazard| hazard.code != Code::HostsDiffer));
        // Each is shown what it said itself.
        let order = LookOrder { before: Some(seen.environment), ..LookOrder::default() };
        let parts = parts_of(&Request::Look(order.into()), &["nas".to_owned()]);
        let [Request::Look(order)] = &parts[..] else { panic!("{parts:?}") };
        let before = order.before.clone().unwrap();
        assert_eq!(before.text(Fact::KernelRelease), Some("6.12"));
    }
}
