import HTTPAPI
import HTTPEngine

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension ServerLimits {
    /// The configured limits, with no more connections than this process can open files.
    static func forThisProcess(_ settings: ServiceSettings, admission: AdmissionBounds) -> ServerLimits {
        var limits = ServerLimits()
        limits.admission = admission
        limits.addressShare = settings.numbers[.addressShare]
        limits.trustedProxies = settings.trustedProxies
        // The database, the log and connections to Apple need files too.
        limits.connections = min(limits.connections, max(16, openFiles() - 64))
        return limits
    }

    /// Raises the limit of open files as far as an unprivileged process can, and returns it.
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
