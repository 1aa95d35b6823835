// The loop that iolab times for `read/pread`, through Google Benchmark: a file is read from the
// page cache in blocks, and every byte is folded with XOR. Started with a cell's name, as
// `iolab read … --benchmark_list_tests` prints it, its results import as that cell:
//
//   read_loop --cell=read/pread/file-size:1048576/block:65536/… --benchmark_out=out.json
//   iolab import out.json

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

// The number behind `axis:` in a cell's name, or the default.
std::uint64_t level(const std::string& cell, const std::string& axis, std::uint64_t otherwise) {
  const std::string key = "/" + axis + ":";
  const auto at = cell.find(key);
  return at == std::string::npos ? otherwise : std::strtoull(cell.c_str() + at + key.size(), nullptr, 10);
}

// The name without the endings that the library itself appends.
std::string without_endings(std::string cell) {
  for (const char* ending : {"/threads:", "/real_time"}) {
    const auto at = cell.rfind(ending);
    if (at != std::string::npos) cell.resize(at);
  }
  return cell;
}

// A file of random bytes that has no name any more: it goes with the process.
int make_file(std::uint64_t bytes) {
  char name[] = "./read_loop.XXXXXX";
  const int file = mkstemp(name);
  if (file < 0) return -1;
  unlink(name);
  std::vector<std::uint64_t> noise(8192);
  std::uint64_t x = 0x2545f4914f6cdd1dULL;
  for (std::uint64_t done = 0; done < bytes;) {
    for (auto& word : noise) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      word = x;
    }
    const std::size_t size = std::min<std::uint64_t>(noise.size() * 8, bytes - done);
    const ssize_t written = write(file, noise.data(), size);
    if (written <= 0) return -1;
    done += static_cast<std::uint64_t>(written);
  }
  return file;
}

std::uint64_t fold(const std::uint64_t* words, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum ^= words[i];
  return sum;
}

void read_loop(benchmark::State& state, int file, std::uint64_t bytes, std::uint64_t block) {
  std::vector<std::uint64_t> buffer((block + 7) / 8);
  std::uint64_t calls = 0;
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (std::uint64_t at = 0; at < bytes;) {
      const ssize_t got = pread(file, buffer.data(), block, static_cast<off_t>(at));
      if (got <= 0) {
        state.SkipWithError("pread");
        return;
      }
      sum ^= fold(buffer.data(), static_cast<std::size_t>(got) / 8);
      at += static_cast<std::uint64_t>(got);
      ++calls;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(calls));
}

}  // namespace

int main(int argc, char** argv) {
  std::string cell = "read/pread/file-size:1048576/block:65536";
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--cell=", 7) == 0) {
      cell = argv[i] + 7;
      argv[i] = argv[argc - 1];
      --argc, --i;
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const std::uint64_t bytes = level(cell, "file-size", 1 << 20);
  const std::uint64_t block = level(cell, "block", 65536);
  const int file = bytes > 0 && block > 0 ? make_file(bytes) : -1;
  if (file < 0) {
    std::perror("read_loop: make the file");
    return 1;
  }
  benchmark::RegisterBenchmark(without_endings(cell).c_str(),
                               [=](benchmark::State& state) { read_loop(state, file, bytes, block); })
      ->Threads(1)
      ->UseRealTime();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
