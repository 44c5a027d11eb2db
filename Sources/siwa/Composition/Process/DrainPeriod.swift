import HTTPAPI
import Logging
import ServiceLifecycle

/// Holds the shutdown up for a while, in which the service serves and `/readyz` says that it is about to stop.
/// Load balancers then take the process out before its connections end.
///
/// It is the first service that a shutdown reaches.
struct DrainPeriod: Service {
    let http: HTTPService
    let duration: Duration
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        // A service that could not listen, or has none to tell, stops at once.
        guard duration > .zero, (try? await http.boundPort()) != nil else { return }
        http.beginDraining()
        logger.notice(
            "draining: requests are served, and /readyz answers 503",
            metadata: ["seconds": "\(duration.components.seconds)"])
        try? await Task.sleep(for: duration)
    }
}
