import Foundation

/// Metrics about the process's resource use, with the names that Prometheus' client libraries use.
///
/// Reads `/proc` before each scrape. A system without `/proc` does not have these metrics.
struct ProcessMetrics: Sendable {
    init(_ registry: MetricsRegistry) {
        guard let first = ProcessStatus.read() else { return }
        let cpu = registry.total(
            "process_cpu_seconds_total", help: "Processor time that was used, in user and kernel mode.")
        let resident = registry.gauge("process_resident_memory_bytes", help: "Resident memory.")
        let virtual = registry.gauge("process_virtual_memory_bytes", help: "Virtual memory.")
        let openFiles = registry.gauge("process_open_fds", help: "Open file descriptors.")
        let mostFiles = registry.gauge("process_max_fds", help: "The most file descriptors that may be open.")
        let threads = registry.gauge("process_threads", help: "Threads.")
        let start = registry.gauge("process_start_time_seconds", help: "Start, in seconds since 1970.")
        start.set(first.startedAt)
        registry.beforeReading {
            guard let status = ProcessStatus.read() else { return }
            cpu.set(status.processorSeconds)
            resident.set(status.residentBytes)
            virtual.set(status.virtualBytes)
            openFiles.set(Int64(status.openFiles))
            mostFiles.set(status.mostFiles)
            threads.set(status.threads)
        }
    }
}

/// This process's status, as Linux reports it in `/proc` (proc(5)).
struct ProcessStatus: Equatable {
    let processorSeconds: Double
    /// Start time of the process, in seconds since 1970.
    let startedAt: Double
    let threads: Int64
    let virtualBytes: Int64
    let residentBytes: Int64
    let openFiles: Int
    let mostFiles: Int64

    /// The kernel's units: clock ticks per second, and bytes per memory page.
    struct Units {
        let ticksPerSecond: Double
        let pageBytes: Int64

        static let ofThisSystem = Units(
            ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))),
            pageBytes: Int64(sysconf(Int32(_SC_PAGESIZE))))
    }

    /// Reads the status; returns `nil` on a system without `/proc`.
    static func read() -> ProcessStatus? {
        guard let stat = text("/proc/self/stat"), let system = text("/proc/stat"),
            let limits = text("/proc/self/limits"),
            let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return nil }
        return ProcessStatus(
            // Subtracts the descriptor that reading the directory itself opens.
            stat: stat, system: system, limits: limits, openFiles: files.count - 1, units: .ofThisSystem)
    }

    init?(stat: String, system: String, limits: String, openFiles: Int, units: Units) {
        // The second field is the program's name in parentheses, which can contain spaces and parentheses.
        guard let nameEnd = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: nameEnd)...].split(whereSeparator: \.isWhitespace)
        // The array begins with the third field of proc(5), so field n has the index n - 3.
        guard fields.count > 21, let user = Double(fields[11]), let kernel = Double(fields[12]),
            let threads = Int64(fields[17]), let start = Double(fields[19]), let virtual = Int64(fields[20]),
            let resident = Int64(fields[21]), let boot = Self.number(after: "btime ", in: system),
            let mostFiles = Self.number(after: "Max open files", in: limits)
        else { return nil }
        processorSeconds = (user + kernel) / units.ticksPerSecond
        startedAt = Double(boot) + start / units.ticksPerSecond
        self.threads = threads
        virtualBytes = virtual
        residentBytes = resident * units.pageBytes
        self.openFiles = openFiles
        self.mostFiles = mostFiles
    }

    private static func number(after name: String, in text: String) -> Int64? {
        guard let range = text.firstRange(of: name) else { return nil }
        return text[range.upperBound...].split(whereSeparator: \.isWhitespace).first.flatMap { Int64($0) }
    }

    private static func text(_ path: String) -> String? {
        // Files in /proc report no size, so the code reads to the end of the file.
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() else {
            return nil
        }
        return String(decoding: data, as: UTF8.self)
    }
}
