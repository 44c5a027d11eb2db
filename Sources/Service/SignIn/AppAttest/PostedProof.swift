public import AppAttestation
import Encodings
public import StrictJSON

/// A proof as a request posts it: an assertion of App Attest. Nothing of it is verified.
///
/// A proof of another form is no error of the request, because a request with a wrong proof passes in
/// monitored mode.
public enum PostedProof: Sendable {
    case malformed
    /// Indirect, so that the requests without a proof stay small.
    indirect case assertion(AttestedKeyID, [UInt8], clientData: [UInt8])

    /// The most bytes that client data may have: twice as many as are needed.
    static let longestClientData = 1024

    /// Reads the member `attestation`, an object with exactly these members.
    public init(_ value: JSONValue) {
        guard let object = value.object, object.members.count == 3 else {
            self = .malformed
            return
        }
        self.init(
            keyID: object["key_id"]?.string, assertion: object["assertion"]?.string,
            clientData: object["client_data"]?.string)
    }

    /// - Parameters:
    ///   - keyID: The text that `DCAppAttestService` returned.
    ///   - assertion: In base64 with padding.
    ///   - clientData: The text whose UTF-8 bytes were hashed.
    public init(keyID: String?, assertion: String?, clientData: String?) {
        guard let keyID = keyID.flatMap({ AttestedKeyID(base64: $0) }), let assertion, let clientData,
            assertion.utf8.count <= (UnverifiedAssertion.longestObject + 2) / 3 * 4,
            let bytes = Base64.decode(assertion), clientData.utf8.count <= Self.longestClientData
        else {
            self = .malformed
            return
        }
        self = .assertion(keyID, bytes, clientData: Array(clientData.utf8))
    }
}
