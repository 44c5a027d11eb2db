import HTTPAPI
import Logging
import ServiceLifecycle

/// Delays the shutdown. During the delay the service still serves requests, and `/readyz` answers 503, so
/// that load balancers remove the process before its connections end.
///
/// It is the first service that a shutdown reaches.
struct DrainPeriod: Service {
    let http: HTTPService
    let duration: Duration
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        // Without a delay, or when the service could not listen, the shutdown goes on at once.
        guard duration > .zero, (try? await http.boundPort()) != nil else { return }
        http.beginDraining()
        logger.notice(
            "draining: requests are served, and /readyz answers 503",
            metadata: ["seconds": "\(duration.components.seconds)"])
        try? await Task.sleep(for: duration)
    }
}
