import AppleAccounts
import AppleIdentity
import NIOHTTP1
import SignIn
import StrictJSON

/// Apple's own endpoint.
final class NotificationRoutes: Sendable {
    private let useCases: SignInUseCases
    private let verifications: VerificationMetrics
    private let receipts: NotificationMetrics

    init(useCases: SignInUseCases, verifications: VerificationMetrics, receipts: NotificationMetrics) {
        (self.useCases, self.verifications, self.receipts) = (useCases, verifications, receipts)
    }

    /// `POST /v1/apple/notifications`
    ///
    /// Answered when it is durable. Members beside `payload` are let pass, because Apple may add some.
    func take(_ call: Call) throws -> Handling {
        let payload = try Self.parse(call.body)
        return .awaiting { [useCases, verifications, receipts] in
            let receipt = try await verifications.counting(.notification) {
                try await useCases.takeNotification(payload: payload)
            }
            receipts.count(receipt)
            var json = JSONWriter(reservingCapacity: 64)
            json.beginObject()
            json.member("result", receipt.rawValue)
            json.endObject()
            return .json(.ok, json.bytes)
        }
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
