import EmulatorServer
import Synchronization

/// Keeps the latest requests to the service that people of the fake world made. Bounded as the records of the
/// fakes are.
final class RequestRecord: Sendable {
    private let log = Mutex(ExchangeLog())

    var exchanges: [Exchange] { log.withLock { $0.exchanges } }

    var start: ExchangeStart { ExchangeStart(at: ProcessObservation.millisecondsSince1970()) }

    /// - Parameter target: The path of the service, with a query.
    func add(
        _ method: String, _ target: Substring, fields: String, status: Int, answer: String,
        since start: ExchangeStart
    ) {
        let (step, title) = ServiceStep.of(method, target.prefix { $0 != "?" })
        let request = "\(method) \(ShownText.url(String(target)))\(fields)"
        log.withLock { log in
            log.add(step, title, request: request, response: answer, status: status, since: start)
        }
    }
}
