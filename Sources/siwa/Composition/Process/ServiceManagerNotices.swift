import HTTPAPI
import Logging
import ServiceLifecycle

/// Tells the service manager when the service listens, and when its shutdown begins.
struct ServiceManagerNotices: Service {
    let manager: ServiceManager
    let http: HTTPService
    let logger: Logger

    func run() async throws {
        // A service that cannot listen ends with an error, which the service manager sees.
        if (try? await http.boundPort()) != nil { tell("READY=1\nSTATUS=serving") }
        try? await gracefulShutdown()
        tell("STOPPING=1\nSTATUS=finishing requests")
    }

    private func tell(_ state: String) {
        // Under Type=notify, systemd waits for `READY=1` and ends the process when it does not arrive.
        if !manager.tell(state) { logger.warning("the service manager could not be told") }
    }
}
