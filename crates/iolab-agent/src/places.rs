//! The places of a session: made when the first file is ordered on them, sealed before the first
//! trial, taken down at the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::copy_up;
use super::instance::Instance;
use super::messages::PlaceTerms;
use iolab_io::cache::Prober;
use iolab_io::place::{self, CleanupWatchdog, Consent, Mounts, PLACES, Place, PlaceOrder};
use iolab_model::catalog::{parse_place, path_from_text};
use iolab_model::result::{Fault, PlaceFacts};

/// Every place, by the text it was asked for with. Field order is the order of dropping: the heir
/// goes last.
#[derive(Debug)]
pub struct Places {
    sites: BTreeMap<String, PlacedScratch>,
    mounts: Mounts,
    ground: PathBuf,
    image_bytes: u64,
    consent: Consent,
    disks: BTreeMap<String, String>,
    _heir: CleanupWatchdog,
}

#[derive(Debug)]
struct PlacedScratch {
    place: Box<dyn Place>,
    prober: Option<Prober>,
    instances: Vec<usize>,
    sealed: bool,
    /// Whether an overlay syncs what it copies up even without data, once it was tried.
    syncs: Option<bool>,
}

impl Places {
    /// Enters private mounts; images and mount points are made in `ground`, which lies in
    /// `directory`.
    pub fn enter(directory: &Path, ground: &Path, terms: &PlaceTerms) -> Result<Places, Fault> {
        let paths = |texts: &[String]| texts.iter().map(|text| path_from_text(text)).collect();
        // Before the namespace: the heir must hold no mount.
        let heir = CleanupWatchdog::leave(directory)?;
        Ok(Places {
            sites: BTreeMap::new(),
            mounts: Mounts::enter()?,
            ground: ground.to_owned(),
            image_bytes: terms.image_bytes,
            consent: Consent { devices: paths(&terms.devices), destroy: paths(&terms.destroy) },
            disks: terms.disks.clone(),
            _heir: heir,
        })
    }

    /// Makes a place where it is new: copies will go there.
    pub fn ready(&mut self, text: &str) -> Result<(), Fault> {
        if !self.sites.contains_key(text) {
            let site = self.make(text)?;
            self.sites.insert(text.to_owned(), site);
        }
        Ok(())
    }

    /// The directory that a file for this place is to be made in; makes the place where it is new.
    pub fn directory_for(&mut self, text: &str, instance: usize) -> Result<PathBuf, Fault> {
        self.ready(text)?;
        let site = self.site(text)?;
        if site.sealed && site.place.lower().is_some() {
            let cause = "files of an overlay are made before its first trial";
            return Err(Fault::new("make a file", cause));
        }
        site.instances.push(instance);
        Ok(site.place.root().to_owned())
    }

    fn make(&self, text: &str) -> Result<PlacedScratch, Fault> {
        let ids: Vec<&str> = PLACES.iter().map(|part| part.id).collect();
        let level = parse_place(text, &ids)
            .map_err(|e| Fault::new(format!("make the place {text}"), e.to_string()))?;
        let order = PlaceOrder {
            level: &level,
            ground: &self.ground,
            image_bytes: self.image_bytes,
            consent: &self.consent,
            mounts: self.mounts,
        };
        let place = match self.disks.get(text) {
            Some(disk) => place::device::on_disk(&order, Path::new(disk))?,
            None => place::make(&order)?,
        };
        Ok(PlacedScratch { place, prober: None, instances: Vec::new(), sealed: false, syncs: None })
    }

    fn site(&mut self, text: &str) -> Result<&mut PlacedScratch, Fault> {
        let missing = || Fault::new("look up a place", format!("no file was made on {text}"));
        self.sites.get_mut(text).ok_or_else(missing)
    }

    /// Ends the filling of every place; files that move with it are opened anew.
    pub fn seal(&mut self, instances: &mut BTreeMap<usize, Instance>) -> Result<(), Fault> {
        for site in self.sites.values_mut().filter(|site| !site.sealed) {
            site.sealed = true;
            if let Some(lower) = site.place.lower() {
                copy_up::lay_probes(lower)?;
            }
            site.place.seal()?;
            reopen(site, instances)?;
            // Probes are tested where they are used; a read-only place takes those of the ground.
            site.prober = Prober::start(site.place.root()).ok();
        }
        Ok(())
    }

    /// Unmounts and mounts again, so that nothing of the place is cached.
    pub fn remount(
        &mut self,
        text: &str,
        instances: &mut BTreeMap<usize, Instance>,
    ) -> Result<(), Fault> {
        let site = self.site(text)?;
        for id in &site.instances {
            if let Some(instance) = instances.get_mut(id) {
                instance.close()?;
            }
        }
        site.place.remount()?;
        reopen(site, instances)
    }

    /// Gives an overlay a fresh upper layer, work directory and mount; other places stay.
    pub fn renew(
        &mut self,
        text: &str,
        instances: &mut BTreeMap<usize, Instance>,
    ) -> Result<(), Fault> {
        let site = self.site(text)?;
        if site.place.upper().is_none() {
            return Ok(());
        }
        for id in &site.instances {
            if let Some(instance) = instances.get_mut(id) {
                instance.close()?;
            }
        }
        site.place.renew()?;
        if site.syncs.is_none() {
            site.syncs = copy_up::syncs(site.place.root()).ok();
        }
        reopen(site, instances)
    }

    /// Whether an overlay was seen to sync metadata that it copies up.
    pub fn copy_up_syncs(&self, text: &str) -> bool {
        self.sites.get(text).is_some_and(|site| site.syncs == Some(true))
    }

    /// The upper layer of an overlay.
    pub fn upper(&self, text: &str) -> Option<&Path> {
        self.sites.get(text)?.place.upper()
    }

    /// Empties what is cached below the place.
    pub fn evict_below(&mut self, text: &str) -> Result<(), Fault> {
        self.site(text)?.place.evict_below()
    }

    /// The probes tested on the place, where any were.
    pub fn prober(&self, text: &str) -> Option<&Prober> {
        self.sites.get(text)?.prober.as_ref()
    }

    /// Where its files are.
    pub fn root(&self, text: &str) -> Option<&Path> {
        Some(self.sites.get(text)?.place.root())
    }

    /// A directory of the place that may be written to.
    pub fn scratch(&self, text: &str) -> Option<&Path> {
        let site = self.sites.get(text)?;
        site.prober.as_ref().map(|_| site.place.root())
    }

    /// What they turned out to be.
    pub fn facts(&self) -> Vec<PlaceFacts> {
        self.sites.values().map(|site| site.place.facts().clone()).collect()
    }

    /// Takes all of them down; their files must be closed.
    pub fn take_down(mut self) -> Result<(), Fault> {
        let ends: Vec<_> = self.sites.values_mut().map(|site| site.place.take_down()).collect();
        ends.into_iter().collect()
    }
}

fn reopen(site: &PlacedScratch, instances: &mut BTreeMap<usize, Instance>) -> Result<(), Fault> {
    for id in &site.instances {
        if let Some(instance) = instances.get_mut(id) {
            instance.reopen(site.place.root())?;
        }
    }
    Ok(())
}
