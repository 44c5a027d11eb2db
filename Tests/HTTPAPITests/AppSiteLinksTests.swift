import AppleAccounts
import AuthorizationServer
import OAuthSamples
import StorageConformance
import Testing

@testable import HTTPAPI

/// The document that iOS reads about universal links.
@Suite struct AppSiteLinksTests {
    private static func document(_ change: (inout OAuthDraft) -> Void) throws -> String {
        let team = TeamID("A1B2C3D4E5")
        let deployment = try Deployment(
            apps: ["com.example.app", "com.example.second"].map { id in
                App(team: team, primaryClientID: ClientID(stringLiteral: id))
            })
        let settings = try OAuthSample.settings(in: deployment, app: "com.example.app", change)
        return String(decoding: AppSiteLinks(of: settings.clients, in: deployment).document, as: UTF8.self)
    }

    private static func google(_ draft: OAuthDraft) throws -> Int {
        try #require(draft.clients.firstIndex { $0.kind == "google_linking" })
    }

    @Test func `the paths are those of the configuration`() throws {
        let document = try Self.document { draft in
            if let index = try? Self.google(draft) {
                draft.clients[index].appFlipLinkPaths = ["/flip", "/en/flip/*"]
            }
        }
        #expect(
            document
                == #"{"applinks":{"details":[{"appIDs":["A1B2C3D4E5.com.example.app"],"#
                + #""components":[{"/":"/flip"},{"/":"/en/flip/*"}]}]}}"#)
    }

    @Test(arguments: [
        (
            [],
            #"{"appIDs":["A1B2C3D4E5.com.example.app","A1B2C3D4E5.com.example.second"],"components":[{"/":"/link/google/*"}]}"#
        ),
        (
            ["/two"],
            #"{"appIDs":["A1B2C3D4E5.com.example.app"],"components":[{"/":"/link/google/*"}]},"#
                + #"{"appIDs":["A1B2C3D4E5.com.example.second"],"components":[{"/":"/two"}]}"#
        ),
    ])
    func `each app takes the paths of its own clients`(paths: [String], details: String) throws {
        let document = try Self.document { draft in
            guard let index = try? Self.google(draft) else { return }
            var second = draft.clients[index]
            second.id = "google-2"
            second.app = "com.example.second"
            second.secretHashes = [String(repeating: "2b", count: 32)]
            second.appFlipLinkPaths = paths
            // A second client of the first app adds nothing.
            var third = draft.clients[index]
            third.id = "google-3"
            third.secretHashes = [String(repeating: "3b", count: 32)]
            draft.clients += [second, third]
        }
        #expect(document == #"{"applinks":{"details":["# + details + "]}}")
    }
}
