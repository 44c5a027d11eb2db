import Foundation
import TestSupport
import Testing

@testable import siwa

/// The commands of `docs/app-check.md`, against `siwa dev`.
@Suite struct AppCheckPageTests {
    @Test(.timeLimit(.hung))
    func `the lines of the page register a key, and sign in with a proof`() async throws {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(["--log-level", "error"], in: directory) { system in
                let page = try String(
                    contentsOf: PythonTools.root.appendingPathComponent("docs/app-check.md"), encoding: .utf8)
                let start = try #require(page.firstRange(of: "```sh\nSIWA="))
                let rest = page[page.index(start.lowerBound, offsetBy: 6)...]
                let end = try #require(rest.firstRange(of: "\n```"))
                let script = rest[..<end.lowerBound]
                    .replacing("http://127.0.0.1:8080", with: system.service)
                    .replacing("http://127.0.0.1:8081", with: system.apple)
                let printed = try await ExampleBackend.paste(String(script), in: directory)
                try #require(printed.count == 5, "\(printed)")
                #expect(printed[0].contains(#""is_new_key":true"#))
                #expect(printed[1].contains(#""app_check":{"kind":"verified""#))
                #expect(printed[2].contains(#""cause":"counter_not_increased""#))
                #expect(printed[3].contains(#""app_check":{"kind":"unknown_origin""#))
                #expect(printed[4].contains(#""counter":1,"#) && printed[4].contains(#""risk_metric":1"#))
            }
        }
    }
}
