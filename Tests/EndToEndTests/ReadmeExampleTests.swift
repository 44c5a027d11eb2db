import Foundation
import StrictJSON
import TestSupport
import Testing

/// The backend of README.md against `siwa dev`.
@Suite struct ReadmeExampleTests {
    @Test func `the backend of the README signs in, and tells a refusal from it`() async throws {
        let readme = try String(
            contentsOf: OperatorTool.root.appendingPathComponent("README.md"), encoding: .utf8)
        let example = try #require(readme.components(separatedBy: "```python\n").dropFirst().first)
        let code = try #require(example.components(separatedBy: "```").first)
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(in: directory) { system in
                let run = try await OperatorTool.run(
                    "python3", ["-c", code + Self.driver, "http://127.0.0.1:\(system.applePort)"],
                    ["SIWA": "http://127.0.0.1:\(system.port)"], in: directory)
                #expect(run.status == 0, "\(run.output)")
                let answers = try #require(try JSONValue(parsing: Array(run.output.utf8)).array)
                #expect(answers.map { $0["is_new"]?.bool } == [true, false, nil])
                #expect(answers[0]["account"]?.string?.hasPrefix("acc_") == true)
                #expect(answers[0]["account"] == answers[1]["account"])
                #expect(answers[2]["refused"]?.string == "credential_revoked")
            }
        }
    }

    /// An app that signs in twice, and once more after its user has withdrawn consent.
    private static let driver = """

        import sys
        def apple(path, body):
            request = urllib.request.Request(sys.argv[1] + path, json.dumps(body).encode())
            return urllib.request.urlopen(request).read().decode()
        sub = apple("/emulator/users?format=text", {})
        form = json.loads(apple("/emulator/identity-tokens?format=sign-in", {"sub": sub, "code": True}))
        answers = [sign_in(form), sign_in(form)]
        apple("/emulator/users/" + sub + "/revoke-consent", {})
        print(json.dumps(answers + [sign_in(form)]))
        """
}
