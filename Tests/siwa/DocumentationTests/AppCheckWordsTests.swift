import Foundation
import Testing

/// The tables of `docs/app-check.md` with the words of Google's documents: each row has a test.
@Suite struct AppCheckWordsTests {
    /// The first column of each row, and the name of the test of its counterpart. `nil` for a row whose counterpart
    /// is nothing.
    private static let tests: [(row: String, test: String?)] = [
        ("Verified requests: with a valid App Check token", "accepts a proof that holds, once"),
        (
            "Outdated client requests: no token, seems to come from the SDK of Firebase",
            "blocks nothing in monitored mode, and says the kind"
        ),
        (
            "Unknown origin requests: no token, does not seem to come from the SDK",
            "blocks nothing in monitored mode, and says the kind"
        ),
        ("Invalid requests: an invalid token", "refuses a proof, and signs nobody in"),
        (
            "Reused token, with replay protection",
            "accepts one of equal counters of 20 parallel assertions, and never lets a counter fall"
        ),
        ("Unenforced, monitoring", "monitored mode counts the same kind and refuses nothing"),
        ("Enforced, per product", "refuses a request without a proof in enforced mode"),
        (
            "Enforcement takes effect within 15 minutes",
            "the file declares a mode for each bundle ID and each native client"
        ),
        (
            "Metrics by product, and by OAuth client",
            "shows the counts of the app's bundle IDs and clients, by hour for seven days"
        ),
        (
            "\"Enforce when nearly all recent requests are from verified clients\"",
            "warns when enforced mode would have refused more than 1% of yesterday"
        ),
        ("The request comes from the authentic app", "refuses another app"),
        ("The request comes from an authentic, untampered device", "trusts no other root"),
        ("App Attest provider, DeviceCheck provider", "accepts what Apple attested"),
        ("Play Integrity provider, reCAPTCHA", nil),
        (
            "Call `generateAppAttestChallenge`",
            "refuses challenges that are expired, of the other purpose, or not ours"
        ),
        ("Call `exchangeAppAttestAttestation`", "registers a key once, and shows it"),
        (
            "The same calls for `oauthClients`, Google Identity for iOS",
            "an app without a backend registers a key, and proves its token requests"
        ),
        ("The `artifact` of an attestation", "registers a key once, and shows it"),
        ("Call `exchangeAppAttestAssertion`", nil),
        (
            "App Check token, time to live of 30 minutes to 7 days",
            "an app without a backend attests its key, and proves its token requests"
        ),
        (
            "Limited-use tokens, replay protection, `consume`",
            "uses a challenge once, at whatever replica"
        ),
        (
            "Header `X-Firebase-AppCheck`, verifying tokens in a custom backend",
            "in enforced mode a backend passes proofs on, and tells the app how to go on"
        ),
        (
            "Automatic refresh of the token",
            "an app without a backend attests its key, and proves its token requests"
        ),
        (
            "The modes `OFF`, `UNENFORCED`, `ENFORCED`; a resource policy for one OAuth client",
            "the file declares a mode for each bundle ID and each native client"
        ),
        (
            "Status 401 for a request without a valid token",
            "at the endpoints of OAuth a refusal is invalid_client with the same members"
        ),
        (
            "App Attest environment in the entitlements",
            "refuses the other environment, in both directions, with a code of its own"
        ),
        (
            "A device without App Attest",
            "enforced mode refuses every request without a proof, whatever version it says"
        ),
        ("Rolling out step by step", "a flood of attestations waits for the end of the minute"),
        ("Debug provider, debug token", "only Apple's own roots refuse what the fake Apple attests"),
        ("Registering an app with its team ID", "a mistake is reported at the start, with its place"),
        (
            "Monitoring and enforcement, request metrics",
            "counts every judged request, and throws what enforced mode refuses"
        ),
    ]

    /// Rows of the tables: the words of Google's documents, and the counterpart.
    private static let rows: [(words: String, counterpart: String)] = {
        let page = Document.read("docs/app-check.md").text
        return page.components(separatedBy: "\n| Google's documents").dropFirst().flatMap { table in
            table.components(separatedBy: "\n\n")[0].split(separator: "\n").dropFirst(2).map { line in
                let cells = line.dropFirst(2).components(separatedBy: " | ")
                return (cells[0], cells.dropFirst().joined(separator: " | "))
            }
        }
    }()

    @Test func `each row has a test, and each test is there`() {
        #expect(Self.rows.map(\.words).sorted() == Self.tests.map(\.row).sorted())
        let sources = Document.files(under: "Tests").filter { $0.hasSuffix(".swift") }
            .map { Document.read($0).text }.joined()
        for (row, test) in Self.tests {
            guard let test else { continue }
            #expect(sources.contains("func `\(test)`("), "\(row): \(test)")
        }
    }

    @Test func `a row without a test says that there is nothing`() {
        let untested = Set(Self.tests.filter { $0.test == nil }.map(\.row))
        for (words, counterpart) in Self.rows {
            #expect(counterpart.hasPrefix("nothing") == untested.contains(words), "\(words)")
        }
    }
}
