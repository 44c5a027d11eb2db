import AppleAccounts
import AppleIdentity
import Commits
import HTTPEngine
import NIOHTTP1
import SignIn
import StrictJSON

/// The endpoint for Apple's notifications.
final class NotificationRoutes: Sendable {
    private let useCases: SignInUseCases
    private let verifications: VerificationMetrics
    private let receipts: NotificationMetrics
    private let arrivals: ArrivalLog?

    init(
        useCases: SignInUseCases, verifications: VerificationMetrics, receipts: NotificationMetrics,
        arrivals: ArrivalLog?
    ) {
        (self.useCases, self.verifications, self.receipts) = (useCases, verifications, receipts)
        self.arrivals = arrivals
    }

    /// `POST /v1/apple/notifications`
    ///
    /// Responds when the notification is durable. Members beside `payload` are ignored, because Apple may add
    /// members.
    func receive(_ request: HTTPRequest) throws -> RouteResult {
        let payload = try Self.parse(request.body)
        let requestID = request.requestID
        let notification = try arrivals.watching(.apple, token: payload, requestID: requestID) {
            try verifications.counting(.notification, in: request.trace) {
                try useCases.receiveNotification(payload: payload)
            }
        }
        return RouteResult(notification) { [receipts, arrivals] pending in
            let changes = Self.changes(of: pending.command)
            return .commit(pending) { receipt in
                receipts.count(receipt, changes)
                if receipt == .duplicate {
                    arrivals?.note(
                        .apple, receipt.rawValue, isRefused: false, token: payload, requestID: requestID)
                }
                return Self.response(receipt)
            }
        }
    }

    private static func changes(of command: AccountCommand) -> [NotifiedEvent.Change] {
        guard case .notification(let notification) = command else { return [] }
        return notification.events.map(\.change)
    }

    private static func response(_ receipt: NotificationReceipt) -> HTTPResponse {
        var json = JSONWriter(reservingCapacity: 64)
        json.beginObject()
        json.member("result", receipt.word)
        json.endObject()
        return .json(.ok, json.bytes)
    }

    private static func parse(_ bytes: [UInt8]) throws(Problem) -> String {
        var body = try RequestBody(bytes)
        var payload: String?
        while let name = try body.next() {
            if name == "payload" { payload = try body.string("payload") } else { try body.skip() }
        }
        guard let payload else { throw Problem(.memberMissing, subject: .member("payload")) }
        return payload
    }
}
