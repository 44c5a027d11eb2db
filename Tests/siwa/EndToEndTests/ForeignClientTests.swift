import Foundation
import StrictJSON
import TestSupport
import Testing

/// Unchanged libraries with fixed Apple URLs, against the fake Apple over TLS. Their programs are in
/// `Clients/`.
@Suite(.serialized) struct ForeignClientTests {
    private static let root = ProjectFolder.root
    private static let clientID = "com.example.web"

    /// A driver program, and the redirect URI of the library.
    @Test(arguments: [
        ("social_auth", "http://localhost:9000/complete/apple-id/"),
        ("allauth_client", "http://localhost:9000/accounts/apple/login/callback/"),
        ("authlib_client", "http://localhost:9000/signed-in"),
    ])
    func `a library authorizes, exchanges, refreshes and revokes`(driver: String, redirectURI: String)
        async throws
    {
        let python = Self.root.appendingPathComponent(".build-python/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path),
            "\(python.path) is not there; scripts/python-packages makes it")
        try await TemporaryDirectory.with { directory in
            let log = URL(fileURLWithPath: "\(directory.path)/apple.log")
            let apple = try ServiceProcess.start(
                [
                    "emulate", "--port", "0", "--client-id", "com.example.app", "--client-id", Self.clientID,
                    "--redirect-uri", redirectURI, "--signing-key-file",
                    "\(directory.path)/AuthKey_ABC123DEFG.p8",
                    "--refresh-interval", "0", "--tls-self-signed", "\(directory.path)/tls",
                ], ["PATH": "/usr/bin:/bin"], in: directory, error: log)
            try await ServiceProcess.stopping(apple) {
                let port = try await Self.port(in: log)
                let run = try await Self.run(
                    python, driver, given: ["port": .integer(port), "redirect_uri": .string(redirectURI)],
                    in: directory)
                #expect(run.status == 0, "\(run.output)")
                #expect(run.output.contains("done"), "\(run.output)")
            }
        }
    }

    private static func port(in log: URL) async throws -> Int64 {
        let mark = "listening on 127.0.0.1:"
        var port: Int64?
        try await eventually {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            guard let range = text.firstRange(of: mark) else { return false }
            let digits = text[range.upperBound...].prefix { $0.isNumber }
            // The line may be incomplete.
            if text[range.upperBound...].count > digits.count { port = Int64(digits) }
            return port != nil
        }
        return try #require(port)
    }

    private static func run(
        _ python: URL, _ driver: String, given: [String: JSONValue], in directory: TemporaryDirectory
    ) async throws -> ProgramRun {
        let key = "\(directory.path)/AuthKey_ABC123DEFG.p8"
        let all: [String: JSONValue] = [
            "team": .string("SIWADEV000"), "client_id": .string(clientID), "key_id": .string("ABC123DEFG"),
            "key": .string(key),
        ].merging(given) { $1 }
        let json = JSONValue.object(JSONObject(all.map { ($0.key, $0.value) })).serialized()
        let authority = "\(directory.path)/tls/ca.pem"
        return try await ProgramRun.of(
            python,
            [
                root.appendingPathComponent("Tests/siwa/EndToEndTests/Clients/\(driver).py").path,
                String(decoding: json, as: UTF8.self),
            ],
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": directory.path, "PYTHONDONTWRITEBYTECODE": "1",
                "SSL_CERT_FILE": authority, "REQUESTS_CA_BUNDLE": authority,
            ], in: directory.path)
    }
}
