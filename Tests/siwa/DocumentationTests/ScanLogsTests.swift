import Foundation
import TestSupport
import Testing

/// The search of `scripts/scan-logs`, with one planted secret of each kind.
@Suite struct ScanLogsTests {
    private static func scan(_ logs: [String]) async throws -> ProgramRun {
        try await TemporaryDirectory.with { directory in
            for (index, log) in logs.enumerated() { _ = try directory.write(log, to: "\(index).log") }
            let script = ProjectFolder.root.appending(path: "scripts/scan-logs")
            return try await ProgramRun.of(script, [directory.path])
        }
    }

    private static let clean = """
        time=2026-11-22T16:29:54.944Z level=info msg=request method=POST route=/v1/sign-ins status=201 \
        duration_us=1582 request_id=j02o09si5fu21 caller=development trace_id=4bf92f3577b34da6a3ce929d0e0e4736
        time=2026-11-22T16:29:54.944Z level=notice logger=siwa msg=stopped metric=siwa_http_requests_turned_away_total
        {"time":"2026-11-22T16:29:54.944Z","level":"info","account":"acc_019ab7d8-5f6e-7000-8000-000000000000"}
        msg="oauth.issuer has the host siwa.example.com, postgres://host/siwa and user@localhost"

        """

    @Test func `a clean log passes`() async throws {
        let run = try await Self.scan([Self.clean, Self.clean])
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("2 logs"))
    }

    @Test func `a run without logs fails`() async throws {
        #expect(try await Self.scan([]).status == 1)
    }

    @Test(arguments: [
        ("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIwMDEyMzQifQ.c2ln", "a token"),
        ("siwa_0Zq3v8fJx2nT5uYbRk7wLmAe9cHdGpSi4oQ1tVzX6y0", "a key, code or token of siwa"),
        ("siwa_rt_0Zq3v8fJx2nT5uYbRk7wLmAe9cHdGpSi", "a key, code or token of siwa"),
        ("c0123456789abcdef0123456789abcdef.0.mrtz.abc", "a code or token of Apple"),
        ("001234.0123456789abcdef0123456789abcdef.0123", "a sub of Apple"),
        ("q4zjk7x2rt@privaterelay.appleid.com", "an e-mail address"),
        ("jane.doe+x@mail.example.org", "an e-mail address"), ("-----BEGIN PRIVATE KEY-----", "a key in PEM"),
        ("key=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "a key in base64"),
        ("Authorization: Bearer abcdefghijklmnopqrstuvwx", "a header field"),
        ("postgres://siwa:hunter2@db.internal/siwa", "a password in a URL"),
        ("\u{0}\u{1} jane@example.org", "an e-mail address"),
    ])
    func `a secret is found, and its place is printed without it`(secret: String, kind: String) async throws {
        let run = try await Self.scan([Self.clean, Self.clean + "msg=\"it was \(secret)\"\n"])
        #expect(run.status == 1)
        #expect(run.output.contains("1.log:5: \(kind)"), "\(run.output)")
        #expect(!run.output.contains(secret))
    }
}
