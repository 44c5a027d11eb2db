import Foundation
import NIOCore

/// How many event loops the process has: at most one for each CPU that it may run on.
///
/// NIO counts the CPUs of the machine, or those of a quota. A process that is bound to some of them
/// (`taskset`, `AllowedCPUs` of systemd, the cpuset of a container) would have several loops on each. Every
/// loop would then read fewer requests at a time, and what is read together is answered together.
enum EventLoopCount {
    /// Must be called once, before anything uses an event loop. Leaves it to
    /// `NIO_SINGLETON_GROUP_LOOP_COUNT`, if the environment has it.
    static func limitToUsableCPUs() {
        guard ProcessInfo.processInfo.environment["NIO_SINGLETON_GROUP_LOOP_COUNT"] == nil,
            let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let usable = usableCPUs(status), usable < System.coreCount
        else { return }
        NIOSingletons.groupLoopCountSuggestion = usable
    }

    /// Reads `/proc/self/status` of Linux.
    ///
    /// - Returns: `nil` when it does not say.
    static func usableCPUs(_ status: String) -> Int? {
        // Hexadecimal digits, with commas between groups of eight, and a bit for each CPU.
        let name = "Cpus_allowed:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else {
            return nil
        }
        let count = line.dropFirst(name.count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        return count > 0 ? count : nil
    }
}
