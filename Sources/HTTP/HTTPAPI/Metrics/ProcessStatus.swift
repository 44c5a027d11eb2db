import Foundation

/// This process as Linux describes it in `/proc` (proc(5)).
struct ProcessStatus: Equatable {
    let processorSeconds: Double
    /// Seconds since 1970.
    let startedAt: Double
    let threads: Int64
    let virtualBytes: Int64
    let residentBytes: Int64
    let openFiles: Int
    let mostFiles: Int64

    /// The kernel's units of time and of memory.
    struct Units {
        let ticksPerSecond: Double
        let pageBytes: Int64

        static let ofThisSystem = Units(
            ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))),
            pageBytes: Int64(sysconf(Int32(_SC_PAGESIZE))))
    }

    /// `nil` without `/proc`.
    static func read() -> ProcessStatus? {
        guard let stat = text("/proc/self/stat"), let system = text("/proc/stat"),
            let limits = text("/proc/self/limits"),
            let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return nil }
        return ProcessStatus(
            // One of the entries was the directory itself.
            stat: stat, system: system, limits: limits, openFiles: files.count - 1, units: .ofThisSystem)
    }

    init?(stat: String, system: String, limits: String, openFiles: Int, units: Units) {
        // The second field is the program's name in parentheses, which can contain spaces and parentheses.
        guard let nameEnd = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: nameEnd)...].split(whereSeparator: \.isWhitespace)
        // The first field here is the third of proc(5), so its field n is at n - 3.
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
        // Files of /proc have no size, so the file is read to its end.
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() else {
            return nil
        }
        return String(decoding: data, as: UTF8.self)
    }
}
