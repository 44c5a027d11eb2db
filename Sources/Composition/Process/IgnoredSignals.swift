import Logging
import ServiceLifecycle
import UnixSignals

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Logs and ignores the signals that make many programs reload their configuration or reopen their log file.
/// Without this service, each of these signals would kill the process in the middle of its requests.
package struct IgnoredSignals: Service {
    static let signals: [UnixSignal] = [.sighup, .sigusr1, .sigusr2]

    let logger: Logger

    /// Ignores the signals until `run` listens for them.
    package static func ignoreDuringStart() {
        for ignored in signals { _ = signal(ignored.rawValue, SIG_IGN) }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await signal in await UnixSignalsSequence(trapping: Self.signals) {
                logger.notice(
                    "a signal was ignored: a restart reads the configuration again",
                    metadata: ["signal": "\(signal)"])
            }
        }
        // Waits, because if `run` returned early, the whole service would stop.
        try? await gracefulShutdown()
    }
}
