import AppleAccounts
import StorageConformance
import Testing

@testable import Console

@Suite struct SettingsPagesTests {
    private static let checkedAt = Moment(seconds: 1_767_225_600)

    private struct QuietDoctor: DoctorFinding {
        func findings() -> DoctorFindings {
            DoctorFindings(findings: [], checkedAt: checkedAt, isRunning: false)
        }
        func checkAgain() {}
    }

    private static func html(_ store: ReferenceStore) async throws -> String {
        let registrations = [InspectedWorld.app, InspectedWorld.otherApp].map {
            app -> ShownConfiguration.Registration in
            (
                place: "Apple, \(app.rawValue)", values: [("endpoint", "https://siwa.test/\(app.rawValue)")],
                check: nil, notifiedApp: app
            )
        }
        let pages = SettingsPages(
            configuration: ShownConfiguration(settings: [], sections: [], registrations: registrations),
            doctor: QuietDoctor(), inbox: store
        ).pages
        let request = ConsoleRequest(requestID: "r", viewer: InspectedWorld.viewer(), now: checkedAt)
        return try InspectedWorld.html(try await pages.page(.get, "/settings").handle(request))
    }

    @Test func `the first notification of an app shows that its endpoint is registered`() async throws {
        let store = ReferenceStore()
        #expect(try await Self.html(store).split(separator: "no notification yet").count == 3)
        try await store.notify(.sample())
        let html = try await Self.html(store)
        // The other app has none.
        #expect(html.split(separator: "no notification yet").count == 2)
        #expect(html.contains("<span class=\"good\">received a notification at "))
        #expect(!html.contains("cannot be tried"))
    }

    @Test func `the time of the checks stays right while the page is open`() async throws {
        let html = try await Self.html(ReferenceStore())
        #expect(html.contains("Nothing is wrong, checked at 2026-01-01 00:00:00 (UTC)"))
    }
}

@Suite struct MaskedURLTests {
    @Test(arguments: [
        ("https://backend.example.com/siwa", "https://backend.example.com/siwa"),
        ("https://backend.example.com:8443", "https://backend.example.com:8443"),
        ("https://user:s3cret@backend.example.com/a/b", "https://…@backend.example.com/a/b"),
        ("https://u:p@ss@backend.example.com?key=s3cret", "https://…@backend.example.com?…"),
        ("https://backend.example.com/siwa?key=s3cret#x", "https://backend.example.com/siwa?…"),
        ("https://backend.example.com/siwa#s3cret", "https://backend.example.com/siwa?…"),
        (
            "https://hooks.example.com/services/T01/B02/s3cretXXXXXXXXXX/",
            "https://hooks.example.com/services/T01/B02/s3cr…/"
        ),
        ("https://backend.example.com/a?x=https://s3cret@b/", "https://backend.example.com/a?…"),
        ("s3cret", "…"), ("", "…"),
    ])
    func `the address of a receiver is shown without what can be a secret`(url: String, text: String) {
        #expect(MaskedURL.text(url) == text)
    }
}
