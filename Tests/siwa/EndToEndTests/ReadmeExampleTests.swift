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
                let limits = JSONLimits(depth: 8, members: 64)
                let responses = try #require(
                    try JSONValue(parsing: Array(run.output.utf8), limits: limits).array)
                let accounts = responses.prefix(2).map { $0["account"]?["id"]?.string }
                #expect(accounts[0]?.hasPrefix("acc_") == true)
                #expect(accounts[0] == accounts[1])
                #expect(responses[0]["account"]?["first_name"]?.string == "Ada")
                #expect(
                    responses.dropFirst(2).map { $0["refused"]?.string } == [
                        "nonce_used", "nonce_missing", "nonce_missing", "nonce_mismatch",
                        "credential_revoked", "raised 401",
                    ])
            }
        }
    }

    /// An app that signs in twice. Its other attempts are refused: a used nonce, no nonce, the digest in the
    /// token, the nonce of another attempt, and a token from before the withdrawal of consent. It sends more
    /// members than siwa accepts. A wrong API key is not a refusal of the app, so the backend raises it.
    private static let driver = """

        import sys
        def apple(path, body):
            request = urllib.request.Request(sys.argv[1] + path, json.dumps(body).encode())
            return urllib.request.urlopen(request).read().decode()
        sub = apple("/emulator/users?format=text", {"first_name": "Ada"})
        def attempt():
            nonce = make_nonce()
            body = {"sub": sub, "code": True, "nonce": nonce["nonce_sha256"]}
            form = json.loads(apple("/emulator/identity-tokens?format=sign-in", body))
            return {**form, "nonce": nonce["nonce"], "digest": nonce["nonce_sha256"], "app_version": "1.0"}
        first, last = attempt(), attempt()
        forms = [first, attempt(), first, {**last, "nonce": None}, {**last, "nonce": last["digest"]},
                 {**last, "nonce": make_nonce()["nonce"]}]
        answers = [sign_in(form) for form in forms]
        apple("/emulator/users/" + sub + "/revoke-consent", {})
        answers.append(sign_in(last))
        KEY = "siwa_wrong"
        try:
            answers.append(sign_in(last))
        except urllib.error.HTTPError as error:
            answers.append({"refused": "raised " + str(error.code)})
        print(json.dumps(answers))
        """
}
