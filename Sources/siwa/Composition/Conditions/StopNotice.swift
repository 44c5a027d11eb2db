import Logging
import ServiceLifecycle

/// Says that the service was asked to stop. The last of the services, because they stop from the last to the first.
struct StopNotice: Service {
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        logger.notice("stopping: no new connections; what was accepted is answered")
    }
}
