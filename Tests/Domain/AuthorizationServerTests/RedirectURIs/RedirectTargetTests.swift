import AuthorizationServer
import Testing

@Suite struct RedirectTargetTests {
    @Test(arguments: [
        ("https://app.example.com/cb", "https://app.example.com"),
        ("https://app.example.com:8443", "https://app.example.com:8443"),
        ("https://app.example.com?x=1", "https://app.example.com"),
        ("com.example.app:/cb", "com.example.app:"), ("com.example.app:", "com.example.app:"),
        ("http://127.0.0.1:9004/cb", "http://127.0.0.1:9004"),
        // A host source of a policy cannot be an IPv6 address.
        ("http://[::1]:9004/cb", "http:"),
        ("com.example.app:/cb?next=https://shop.example.com/", "com.example.app:"),
        ("https://app.example.com/cb?next=https://shop.example.com/", "https://app.example.com"),
    ])
    func `names itself for the form-action of a policy`(text: String, source: String) throws {
        let target = try RegisteredRedirectURI(registering: text).target(for: text)
        #expect(target?.formActionSource == source)
    }

    @Test(arguments: [
        ("https://app.example.com/cb", "app.example.com"),
        ("https://app.example.com:8443?x=1", "app.example.com:8443"),
        ("https://app.example.com/cb?next=https://shop.example.com/", "app.example.com"),
        ("http://127.0.0.1:9004", "127.0.0.1:9004"), ("http://[::1]:9004/cb", "[::1]:9004"),
        ("com.example.app:/cb", "com.example.app"),
        // The page would name a host that the browser does not go to.
        ("com.example.app:/cb?next=https://shop.example.com/", "com.example.app"),
        ("com.example.app:/https://shop.example.com/", "com.example.app"),
    ])
    func `tells users where the browser goes`(text: String, destination: String) throws {
        let target = try RegisteredRedirectURI(registering: text).target(for: text)
        #expect(target?.destination == destination)
    }

    @Test func `has two URIs for a project and twelve for App Flip`() throws {
        let settings = try OAuthSettings.sample()
        let google = try #require(settings.clients["google"])
        let uris = google.redirectURIs
        #expect(uris.count { $0.form == .googleProject } == 2)
        #expect(uris.count { $0.form == .appFlip } == 12)
        for host in ["oauth-redirect", "oauth-redirect-sandbox"] {
            let origin = "https://\(host).googleusercontent.com"
            #expect(google.redirectTarget(for: "\(origin)/r/home-link-42") != nil)
            #expect(settings.clients.appFlipTarget(for: "\(origin)/r/home-link-42") == nil)
            for bundleID in [
                "com.google.Chromecast", "com.google.Chromecast.dev", "com.google.Chromecast.enterprise",
                "com.google.OPA", "com.google.OPA.dev", "com.google.OPA.enterprise",
            ] {
                #expect(google.redirectTarget(for: "\(origin)/a/\(bundleID)") != nil)
                #expect(settings.clients.appFlipTarget(for: "\(origin)/a/\(bundleID)") != nil)
            }
        }
    }

    @Test func `takes more bundle IDs, and those of the test tool in development`() throws {
        let draft = OAuthDraft.sample {
            $0.clients = [
                .googleSample {
                    $0.appFlipBundleIDs = ["com.google.Future", "com.google.OPA"]
                    $0.appFlipTestRedirectURIs = ["https://test.example.com/a/tool"]
                }
            ]
        }
        let settings = try OAuthSettings.sample(draft, isDevelopment: true)
        let flip = settings.clients
        #expect(
            flip.appFlipTarget(for: "https://oauth-redirect.googleusercontent.com/a/com.google.Future") != nil
        )
        #expect(flip.appFlipTarget(for: "https://test.example.com/a/tool") != nil)
        #expect(flip["google"]?.redirectURIs.count { $0.form == .appFlip } == 15)
    }
}
