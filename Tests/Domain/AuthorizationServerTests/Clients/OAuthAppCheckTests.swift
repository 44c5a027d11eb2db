import AppAttestation
import AuthorizationServer
import Testing

@Suite struct OAuthAppCheckTests {
    private func policy(_ change: (inout ClientDraft) -> Void) throws -> AppCheckPolicy? {
        let draft = OAuthDraft.sample { $0.clients = [.nativeSample(change)] }
        return try #require(try OAuthSettings.sample(draft).clients.clients.first).appCheck
    }

    @Test func `a client has the environment and the version of its bundle ID`() throws {
        let policy = try #require(try policy { $0.appCheck = "enforced" })
        #expect(policy.target == .oauthClient(id: ClientDraft.nativeSample().id))
        #expect(policy.appID.text == "A1B2C3D4E5.com.example.app")
        #expect(policy.mode == .enforced)
        #expect(policy.environment == .development)
        #expect(policy.firstAttestingVersion == AppVersion("4.2"))
    }

    @Test func `a client can have another first version`() throws {
        let policy = try #require(
            try policy {
                $0.appCheck = "monitored"
                $0.firstAttestingVersion = "5"
            })
        #expect(policy.firstAttestingVersion == AppVersion("5"))
        #expect(policy.mode == .monitored)
    }

    @Test func `a client without App Check has no policy`() throws {
        #expect(try policy { $0.bundleID = "com.example.app" } == nil)
    }
}
