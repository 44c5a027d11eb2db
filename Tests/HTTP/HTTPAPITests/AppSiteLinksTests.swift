import AppleAccounts
import AuthorizationServer
import OAuthSamples
import StorageConformance
import StrictJSON
import Testing

@testable import HTTPAPI

/// The documents that iOS and Android read about links.
@Suite struct AppSiteLinksTests {
    private static func deployment() throws -> Deployment {
        let team = TeamID("A1B2C3D4E5")
        return try Deployment(apps: [
            App(
                team: team, primaryClientID: "com.example.app",
                otherClientIDs: ["com.example.app.watch", "com.example.web"], servicesIDs: ["com.example.web"]
            ), App(team: team, primaryClientID: "com.example.second"),
        ])
    }

    private static func settings(_ change: (inout OAuthDraft) -> Void) throws -> OAuthSettings {
        try OAuthSample.settings(in: try deployment(), app: "com.example.app", change)
    }

    private static func document(_ change: (inout OAuthDraft) -> Void) throws -> String {
        let settings = try settings(change)
        let links = AppSiteLinks(of: settings.clients, in: try deployment(), issuer: settings.issuer)
        return String(decoding: links.json(), as: UTF8.self)
    }

    private static func google(_ draft: OAuthDraft) throws -> Int {
        try #require(draft.clients.firstIndex { $0.kind == "google_linking" })
    }

    private static let first = #""A1B2C3D4E5.com.example.app","A1B2C3D4E5.com.example.app.watch""#
    private static let second = #""A1B2C3D4E5.com.example.second""#

    @Test func `the paths are those of the configuration, for every bundle ID of the app`() throws {
        let document = try Self.document { draft in
            if let index = try? Self.google(draft) {
                draft.clients[index].appFlipLinkPaths = ["/flip", "/en/flip/*"]
            }
        }
        #expect(
            document == #"{"applinks":{"details":[{"appIDs":[\#(Self.first)],"#
                + #""components":[{"/":"/flip"},{"/":"/en/flip/*"}]}]},"#
                + #""webcredentials":{"apps":[\#(Self.first)]}}"#)
    }

    @Test(arguments: [
        ([], #"{"appIDs":[\#(first),\#(second)],"components":[{"/":"/link/google/*"}]}"#),
        (
            ["/two"],
            #"{"appIDs":[\#(first)],"components":[{"/":"/link/google/*"}]},"#
                + #"{"appIDs":[\#(second)],"components":[{"/":"/two"}]}"#
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
        #expect(
            document == #"{"applinks":{"details":["# + details
                + #"]},"webcredentials":{"apps":[\#(Self.first),\#(Self.second)]}}"#)
    }

    @Test func `a native app takes the paths of its https redirects at this host, and no others`() throws {
        let document = try Self.document { draft in
            draft.clients[0].redirectURIs.append("\(OAuthSample.issuer)/shop/cb")
            draft.clients[1].redirectURIs = [
                "com.example.app:/cb", "\(OAuthSample.issuer)/app/cb", "\(OAuthSample.issuer)/app/cb?x=1",
                "\(OAuthSample.issuer).evil.example/cb", "https://other.example.com/cb",
                "\(OAuthSample.issuer):8443/port",
            ]
            if let index = try? Self.google(draft) { draft.clients[index].appFlip = nil }
        }
        #expect(
            document
                == #"{"applinks":{"details":[{"appIDs":[\#(Self.first)],"components":[{"/":"/app/cb"}]}]},"#
                + #""webcredentials":{"apps":[\#(Self.first)]}}"#)
    }

    @Test func `without links of this host there is no document`() throws {
        let settings = try Self.settings { draft in
            if let index = try? Self.google(draft) { draft.clients[index].appFlip = nil }
        }
        let links = AppSiteLinks(of: settings.clients, in: try Self.deployment(), issuer: settings.issuer)
        #expect(links.isEmpty)
        #expect(AssetLinks(of: settings.clients).isEmpty)
    }

    @Test func `an Android app is named once, with the certificates that sign it`() throws {
        let fingerprint = Array(repeating: "0A", count: 32).joined(separator: ":")
        let settings = try Self.settings { draft in
            for index in 1...2 {
                draft.clients[index].androidPackage = "com.example.app"
                draft.clients[index].androidFingerprints = [fingerprint.lowercased()]
            }
        }
        #expect(
            String(decoding: AssetLinks(of: settings.clients).statements.json(), as: UTF8.self)
                == #"[{"relation":["delegate_permission/common.handle_all_urls"],"#
                + #""target":{"namespace":"android_app","package_name":"com.example.app","#
                + #""sha256_cert_fingerprints":["\#(fingerprint)"]}}]"#)
    }
}

@Suite struct AppLinkPatternTests {
    @Test(arguments: [
        ("/link/google/*", "/link/google/abc", true), ("/link/google/*", "/link/google/", true),
        ("/link/google/*", "/link/google", false), ("/link/google/*", "/other/link/google/a", false),
        ("/*/google/?", "/tr/google/1", true), ("/*/google/?", "/tr/google/12", false),
        ("/*a*b", "/xaybzab", true), ("/*a*b", "/xayz", false), ("/flip", "/flip", true),
        ("/flip", "/flipp", false), ("/*", "/" + String(repeating: "a", count: 512), false),
    ])
    func `matches as iOS does`(pattern: String, path: String, isMatch: Bool) {
        #expect(AppLinkPattern(pattern).matches(path[...]) == isMatch)
    }
}
