import AuthorizationServer
import OAuth
import Testing

@testable import HTTPAPI

/// A refusal as the console shows it: the rule, and what was found, without any secret.
@Suite struct RecentRefusalTests {
    @Test(arguments: TokenRefusalReason.allCases)
    func `a refused token request has a rule and a finding`(reason: TokenRefusalReason) {
        let refusal = RecentRefusal(OAuthError.invalidGrant(reason).explained, sent: .none)
        #expect(refusal.check == reason.rawValue)
        #expect(refusal.found == reason.explanation)
        #expect(!refusal.expected.isEmpty && refusal.expected != refusal.found)
    }

    @Test func `a client that is not authenticated has what it sent`() {
        let error = TokenEndpointError(
            OAuthError(.invalidClient, "Client ID or secret is wrong; check both."), usedBasic: true)
        let refusal = RecentRefusal(error, sent: SentAuthorization("Basic c2hvcDpzM2NyZXQ="))
        #expect(refusal.check == "client_not_authenticated")
        #expect(
            refusal.found == "Client ID or secret is wrong; check both. Sent: Authorization: Basic.")
    }

    @Test(
        arguments: [
            (nil, "no Authorization"),
            (
                "Bearer siwa_wrong",
                "Authorization: Bearer with an API key, which is not one of the configuration"
            ),
            ("bearer s3cret", "Authorization: Bearer with a text that does not begin like an API key"),
            ("Basic c2hvcDpzM2NyZXQ=", "Authorization: Basic"),
            ("siwa_wrong", "Authorization with neither Bearer nor Basic, or twice"),
            ("", "Authorization with neither Bearer nor Basic, or twice"),
        ] as [(String?, String)])
    func `a caller without a known key has the kind of what it sent, and not the value`(
        field: String?, found: String
    ) {
        let refusal = RecentRefusal(Problem(.callerUnauthenticated), sent: SentAuthorization(field))
        #expect(refusal.found == found)
        for secret in ["siwa_wrong", "s3cret", "c2hvc"] { #expect(!found.contains(secret)) }
        #expect(refusal.expected.contains("API key"))
    }
}
