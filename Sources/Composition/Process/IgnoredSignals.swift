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

/// Logs the signals that make many programs read their configuration or open their log file again, and does
/// nothing else. Without this service, each signal would end the process at once, in the middle of its
/// requests.
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
        // Returning early would stop the whole service.
        try? await gracefulShutdown()
    }
}
