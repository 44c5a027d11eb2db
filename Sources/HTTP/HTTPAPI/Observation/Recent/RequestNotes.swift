import HTTPEngine
import NIOCore
import NIOHTTP1
import Synchronization

/// Facts for the console, kept of a request until its response is written. Made only where there is a console.
final class RequestNotes: Sendable {
    private let noted = Mutex<RecentRefusal?>(nil)
    private let sent: SentAuthorization
    private let target: String?
    private let contentType: String?
    private let authorization: String?
    private let body: [UInt8]
    private let isBodyCut: Bool

    /// - Parameter keepsExchange: True in development.
    init(_ incoming: IncomingRequest, keepsExchange: Bool) {
        sent = SentAuthorization(incoming.fields.authorization)
        guard keepsExchange else {
            (target, contentType, authorization, body, isBodyCut) = (nil, nil, nil, [], false)
            return
        }
        let bytes = incoming.bodyBytes
        target = incoming.head.uri
        (contentType, authorization) = (incoming.fields.contentType, incoming.fields.authorization)
        body = Array(bytes.prefix(KeptExchange.longestBody))
        isBodyCut = bytes.count > KeptExchange.longestBody
    }

    var refusal: RecentRefusal? { noted.withLock { $0 } }

    func refused(_ error: any Error) {
        let refusal = RecentRefusal(error, sent: sent)
        noted.withLock { $0 = refusal }
    }

    func exchange(_ response: HTTPResponse) -> KeptExchange? {
        guard let target else { return nil }
        var bytes = response.body
        if let shared = response.sharedBody { bytes += shared.readableBytesView }
        return KeptExchange(
            target: target, contentType: contentType, authorization: authorization, body: body,
            isBodyCut: isBodyCut, response: Array(bytes.prefix(KeptExchange.longestBody)),
            responseType: response.contentType?.description,
            location: response.fields.first { $0.name.description == "location" }?.value)
    }
}
