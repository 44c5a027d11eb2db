import NIOCore
import NIOHTTP1
import Synchronization

@testable import HTTPEngine

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
