public import AppleAccounts
public import JOSE
import StrictJSON

/// The security event token that shows a receiver that its stream works (OpenID Shared Signals Framework 1.0
/// §8.1.4). Its subject is the stream.
public struct StreamVerificationToken: Sendable {
    public let issuer: String
    public let audience: String
    public let stream: ReceiverName
    public let verification: StreamVerification
    /// Seconds since 1970.
    public let issuedAt: Int64

    public init(
        issuer: String, audience: String, stream: ReceiverName, verification: StreamVerification,
        issuedAt: Int64
    ) {
        (self.issuer, self.audience, self.stream) = (issuer, audience, stream)
        (self.verification, self.issuedAt) = (verification, issuedAt)
    }

    /// The compact serialization. Throws `.signingFailed`.
    public func signed(with key: TokenSigningKey) throws(JOSEError) -> String {
        let envelope = SecurityEventEnvelope(
            issuer: issuer, audience: audience, id: verification.id.rawValue, issuedAt: issuedAt,
            subject: .opaque(stream.rawValue), type: .verification)
        return try envelope.signed(with: key) { json in
            json.member("state", ifPresent: verification.state)
        }
    }
}
