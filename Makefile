# make setup    installs what the tests use (Debian, as root); says what before it does
# make test     everything that must hold, on two cores well under 20 minutes; IOLAB_NO_SKIP=1: no skips
# make quick    the main job, here
# make bench    our loops against bare C, pairs interleaved; needs a quiet machine
# make browser  the HTML report in a real browser (chromium; node)
# make fuzz     nonsense for what reads bytes of strangers (cargo-fuzz and nightly where they are)
# make studies  every published study, run here: docs/studies/*.md
# make dist     a stripped static binary and a .deb in target/packages, both tried in a bare root
# make book     docs/ as a book with its pictures: target/book/index.html (mdbook)
# make trust    the longer proofs: the figures of docs/trust.md (2000 runs each; kills, swaps and loads, as root; two builds compared)
.PHONY: test setup lint doc deny unit quick bench browser fuzz studies trust dist book clean

CARGO ?= cargo

test: lint doc deny unit

setup:
	@sh scripts/setup.sh

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets --features iolab/parquet -- -D warnings
	@if command -v mpicc >/dev/null; then $(CARGO) clippy --locked -p iolab-mpi --features mpi -- -D warnings; \
	else echo "lint: no mpicc here: the relay of MPI ranks is not looked at"; fi

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --quiet

deny:
	@sh scripts/deny.sh

unit:
	sh scripts/test.sh

quick:
	$(CARGO) run --release --locked -- quick

bench:
	$(CARGO) bench --locked

browser:
	sh scripts/browser.sh

fuzz:
	sh scripts/fuzz.sh

studies:
	-@sh scripts/fetch-kernel.sh
	$(CARGO) run --release --locked -- study run all --output docs/studies

trust:
	IOLAB_TRUST=1 $(CARGO) test --release --locked -p iolab-run --test proof -- --include-ignored --nocapture --skip load::
	IOLAB_TRUST=1 $(CARGO) test --release --locked -p iolab-run --test proof -- load:: --nocapture --test-threads 1
	$(CARGO) test --release --locked -p iolab-stats --test claims -- --include-ignored --nocapture
	IOLAB_TRUST=1 $(CARGO) test --locked -p iolab-io --lib -- race_tests
	IOLAB_TRUST=1 $(CARGO) test --locked -p iolab --test places -- places_kill mixed_kill --nocapture
	IOLAB_TRUST=1 $(CARGO) test --locked -p iolab --test work -- load:: ranks_hosts:: --nocapture
	IOLAB_TRUST=1 $(CARGO) test --release --locked -p iolab --features iolab/parquet --test records -- fuzz:: record_copies record_load --nocapture
	sh scripts/sanitize.sh
	sh scripts/reproducible.sh

dist:
	sh scripts/dist.sh

book:
	@command -v mdbook >/dev/null || { echo "book: mdbook is missing: cargo install mdbook" >&2; exit 1; }
	mdbook build

clean:
	$(CARGO) clean
