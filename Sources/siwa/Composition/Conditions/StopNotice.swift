import Logging
import ServiceLifecycle

/// Logs that a shutdown has begun. It is the last service of the group, because services stop in reverse
/// order.
struct StopNotice: Service {
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        logger.notice("stopping: no new connections; what was accepted is answered")
    }
}
