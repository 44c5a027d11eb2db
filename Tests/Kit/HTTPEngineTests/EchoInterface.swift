import NIOCore
import NIOHTTP1
import Synchronization

@testable import HTTPEngine

/// An interface without routes: the path chooses where the response comes from, and is its body.
final class EchoInterface: HTTPInterface {
    /// Observations of all event loops.
    final class Record: Sendable {
        let batches = Mutex<[Int]>([])
        let finished = Mutex<[UInt]>([])
        let connections = Mutex(0)
    }

    private let eventLoop: any EventLoop
    private let record: Record
    private var gathered: [(next: ResponseSource, completion: ResponseSource.Completion)] = []

    init(eventLoop: any EventLoop, record: Record) {
        (self.eventLoop, self.record) = (eventLoop, record)
    }

    func handle(
        _ request: IncomingRequest, from client: ClientAddress?, gate: AdmissionGate
    ) -> (exchange: any HTTPExchange, source: ResponseSource) {
        let (exchange, path) = (EchoExchange(record), request.head.uri)
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        let response = ResponseSource.response(EchoExchange.response(path))
        func command(then next: ResponseSource) -> ResponseSource {
            .command { loop.value.gathered.append((next, $0)) }
        }
        let source: ResponseSource =
            switch path {
            case "/command": command(then: response)
            case "/task": .work { response }
            case "/task-and-command": .work { [command = command(then: response)] in command }
            case "/tasks": .work { .work { response } }
            case "/tasks-and-command": .work { [command = command(then: response)] in .work { command } }
            case "/commands": command(then: command(then: response))
            case "/command-and-task": command(then: .work { response })
            default: response
            }
        return (exchange, source)
    }

    func refuse(
        _ refusal: RequestRefusal, of request: IncomingRequest?
    ) -> (exchange: any HTTPExchange, response: HTTPResponse) {
        (EchoExchange(record), EchoExchange.response("\(refusal)", .badRequest))
    }

    func submitGathered() {
        let commands = gathered
        gathered = []
        record.batches.withLock { $0.append(commands.count) }
        // On another thread, as a store does.
        Task.detached {
            for command in commands {
                command.completion { command.next }
            }
        }
    }

    func connectionOpened() { record.connections.withLock { $0 += 1 } }
    func connectionClosed() { record.connections.withLock { $0 -= 1 } }
    func requestFinishedLate() {}
}

/// A request to `EchoInterface`.
final class EchoExchange: HTTPExchange {
    let requestID = "id"
    let omitsBody = false
    let longestWait = TimeAmount.zero
    let isLongPoll = false
    let unavailable = EchoExchange.response("unavailable", .serviceUnavailable)
    private let record: EchoInterface.Record

    init(_ record: EchoInterface.Record) {
        self.record = record
    }

    static func response(_ text: String, _ status: HTTPResponseStatus = .ok) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "text/plain", body: Array(text.utf8))
    }

    func finish(_ response: HTTPResponse, at now: NIODeadline) -> HTTPResponse {
        record.finished.withLock { $0.append(response.status.code) }
        var response = response
        response.fields.append(("x-finished", "yes"))
        return response
    }
}
