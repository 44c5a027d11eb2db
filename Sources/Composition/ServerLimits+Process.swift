import Foundation
import HTTPAPI
import HTTPEngine
import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension ServerLimits {
    /// Returns the configured limits, with the connection limit reduced to fit this process's open-file
    /// limit.
    static func forThisProcess(_ settings: ServiceSettings, admission: AdmissionBounds) -> ServerLimits {
        var limits = ServerLimits()
        limits.admission = admission
        limits.addressShare = settings.numbers[.addressShare]
        limits.trustedProxies = settings.trustedProxies
        // The database, the log and connections to Apple also need open files.
        limits.connections = min(limits.connections, max(16, openFiles() - 64))
        return limits
    }

    /// Raises the open-file limit as far as an unprivileged process can, and returns the new limit.
    static func openFiles() -> Int {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        let soft = limit.rlim_cur
        limit.rlim_cur = min(limit.rlim_max, 65536)
        if limit.rlim_cur > soft, setrlimit(resource, &limit) == 0 { return Int(limit.rlim_cur) }
        return Int(min(soft, 65536))
    }
}

/// Number of event loops: at most one for each CPU that the process may use.
///
/// NIO counts the CPUs of the machine or of a quota. With a CPU affinity (`taskset`, systemd's `AllowedCPUs`,
/// a container's cpuset), NIO would start several event loops per allowed CPU. Each event loop would then
/// read fewer requests at a time, and requests that are read together get their responses together.
package enum EventLoopCount {
    /// Sets the number of event loops. Call it once, before the first event loop is used. The environment
    /// variable `NIO_SINGLETON_GROUP_LOOP_COUNT` takes precedence.
    package static func limitToUsableCPUs() {
        guard ProcessInfo.processInfo.environment["NIO_SINGLETON_GROUP_LOOP_COUNT"] == nil,
            let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let usable = usableCPUs(status), usable < System.coreCount
        else { return }
        NIOSingletons.groupLoopCountSuggestion = usable
    }

    /// Returns the number of CPUs in Linux's `/proc/self/status`.
    ///
    /// - Returns: `nil` if the file does not list the CPUs.
    static func usableCPUs(_ status: String) -> Int? {
        // The value is a bit mask with one bit per CPU, in hexadecimal digits with commas between groups of
        // eight.
        let name = "Cpus_allowed:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else {
            return nil
        }
        let count = line.dropFirst(name.count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        return count > 0 ? count : nil
    }
}
