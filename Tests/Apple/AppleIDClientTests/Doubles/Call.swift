import AppleIDClient

/// All calls to Apple, for tests of each of them.
enum Call: String, CaseIterable, Sendable {
    case exchange, validate, revoke, transferSubject, recipient

    func make(_ client: AppleTokenClient) async throws(AppleCallError) {
        switch self {
        case .exchange:
            _ = try await client.exchange(code: "c0de", clientID: AskedClient.clientID, redirectURI: nil)
        case .validate: _ = try await client.validate(refreshToken: "r.t", clientID: AskedClient.clientID)
        case .revoke: try await client.revoke(refreshToken: "r.t", clientID: AskedClient.clientID)
        case .transferSubject:
            _ = try await client.transferSubject(
                of: "0.a.1", to: "F6G7H8I9J0", clientID: AskedClient.clientID)
        case .recipient:
            _ = try await client.recipient(ofTransferSubject: "0.t.1", clientID: AskedClient.clientID)
        }
    }

    /// Number of attempts when every connection is lost.
    var attempts: Int {
        switch self {
        case .exchange, .validate: 1
        case .revoke, .transferSubject, .recipient: 2
        }
    }

    /// The error of a call that must fail.
    func failure(_ client: AppleTokenClient) async -> AppleCallError? {
        do throws(AppleCallError) {
            try await make(client)
            return nil
        } catch { return error }
    }
}
