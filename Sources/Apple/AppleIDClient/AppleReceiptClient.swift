public import AsyncHTTPClient
import Encodings
import JOSE
import StrictJSON

/// Exchanges receipts over HTTP. Requests are signed with a team key that has DeviceCheck enabled.
///
/// Each call is tried once with each of the team's keys, until Apple accepts a key.
public struct AppleReceiptClient: AppleReceiptService {
    private let transport: AppleTransport
    private let endpoints: AppleEndpoints
    private let keys: any SigningKeySource
    private let secondsSince1970: @Sendable () -> Int64

    public init(
        client: HTTPClient, endpoints: AppleEndpoints = .apple, keys: any SigningKeySource,
        limits: AppleTimeLimits = AppleTimeLimits(), clock: AppleClock? = nil,
        secondsSince1970: @escaping @Sendable () -> Int64
    ) {
        transport = AppleTransport(client: client, total: limits.total, clock: clock)
        (self.endpoints, self.keys, self.secondsSince1970) = (endpoints, keys, secondsSince1970)
    }

    public func exchange(
        receipt: [UInt8], team: String, isProduction: Bool
    ) async throws(AppleCallError) -> ReceiptResponse {
        let url = isProduction ? endpoints.attestationData : endpoints.developmentAttestationData
        let text = Base64.encode(receipt)
        var refusal = AppleCallError(.noSigningKey)
        for key in keys.keys(ofTeam: team) {
            let response = try await transport.post(
                url, text: text, authorization: token(of: team, by: key))
            guard response.status == 401 else { return try Self.meaning(of: response) }
            refusal = AppleCallError(.rejected, appleError: .invalidClient, detail: "status 401")
        }
        throw refusal
    }

    /// Returns a JWT with issuer and time. Apple expects it without the Bearer scheme.
    private func token(of team: String, by key: ClientSigningKey) throws(AppleCallError) -> String {
        do throws(JOSEError) {
            return try key.sign(
                JSONObject([("iss", .string(team)), ("iat", .integer(secondsSince1970()))]))
        } catch {
            throw AppleCallError(.signingFailed, detail: error.detail)
        }
    }

    private static func meaning(of response: AppleResponse) throws(AppleCallError) -> ReceiptResponse {
        switch response.status {
        case 200:
            let text = String(decoding: response.body, as: UTF8.self)
            guard let receipt = Base64.decode(text), !receipt.isEmpty else {
                throw AppleCallError(.responseUnusable, detail: "no base64")
            }
            return .refreshed(receipt)
        case 304: return .tooEarly
        case 400: return .refused
        case 404: return .forgotten
        default: throw response.failure()
        }
    }
}

/// Apple's exchange service for App Attest receipts.
public protocol AppleReceiptService: Sendable {
    /// Exchanges a receipt for a newer receipt with the current risk metric. It is safe to repeat.
    ///
    /// - Parameters:
    ///   - team: The ID of the app's team, whose key signs the request.
    ///   - isProduction: False for the development endpoint, which accepts only development receipts.
    func exchange(
        receipt: [UInt8], team: String, isProduction: Bool
    ) async throws(AppleCallError) -> ReceiptResponse
}

/// Apple's response to a receipt exchange.
public enum ReceiptResponse: Sendable, Equatable {
    /// 200: the new receipt, unverified.
    case refreshed([UInt8])
    /// 304: the request came before the earliest time stated in the receipt.
    case tooEarly
    /// 404: Apple no longer has the attestation data, which it keeps for 30 days.
    case forgotten
    /// 400: the receipt is malformed, or belongs to the other environment.
    case refused
}
