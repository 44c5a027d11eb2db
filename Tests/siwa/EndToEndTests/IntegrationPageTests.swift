import Foundation
import NIOHTTP1
import SiwaBinary
import StrictJSON
import TestSupport
import Testing

@testable import siwa_dev

/// `docs/integrate.md` shows programs that `BackendHandlerTests` runs.
@Suite struct IntegrationPageTests {
    @Test(arguments: ExampleBackend.allCases)
    func `the page leads to every file of the backends, and shows that in Python as it is`(
        language: ExampleBackend
    ) throws {
        let page = try ProjectFolder.text("docs/integrate.md")
        let folder = ExampleBackend.folder.appendingPathComponent(language.rawValue)
        for file in language.files {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            if language == .python {
                #expect(page.contains("```python\n\(text)```"), "\(file) differs from docs/integrate.md")
            } else {
                #expect(page.contains("(backends/\(language.rawValue)/\(file))"))
            }
        }
        #expect(page.contains("`\(language.shownCommand)`"))
        #expect(page.split(separator: "\n", omittingEmptySubsequences: false).count <= 301)
    }

    @Test func `the hash on the page is that of Grace's password`() async throws {
        let page = try ProjectFolder.text("docs/integrate.md")
        let user = try #require(
            page.firstMatch(of: /PASSWORD_USERS=usr_grace:grace@example\.com:(\d+):(\w+):(\w+)\n/))
        #expect(page.contains("password is *correct horse*"))
        let program = """
            import hashlib, sys
            times, salt = int(sys.argv[1]), bytes.fromhex(sys.argv[2])
            print(hashlib.pbkdf2_hmac("sha256", b"correct horse", salt, times).hex())
            """
        let run = try await ProgramRun.named("python3", ["-c", program, String(user.1), String(user.2)])
        #expect(run.output == "\(user.3)\n")
    }

    @Test func `the packages of the Swift backend are those that it is built with here`() throws {
        let ours = try ProjectFolder.text("Package.swift")
        let readers = try String(
            contentsOf: ExampleBackend.folder.appendingPathComponent("swift/Package.swift"), encoding: .utf8)
        let packages = readers.matches(
            of: /\.package\(url: "https:\/\/github\.com\/([^"]+)", from: "([^"]+)"\)/)
        #expect(packages.count == 2)
        for package in packages { #expect(ours.contains("\n    \(package.1) \(package.2) ")) }
        // The package of this clone, whatever the name of its folder is.
        #expect(readers.contains(#".package(name: "siwa", path: "../../..")"#))
        #expect(readers.contains(#".product(name: "SiwaClient", package: "siwa")"#))
    }

    #if os(Linux)
        /// Linux has none of Apple's frameworks. `Clients/AppleStandIns.swift` declares what the app uses of
        /// them.
        @Test(arguments: [("ios-app.md", 2), ("linking.md", 4), ("native-apps.md", 3), ("app-check.md", 1)])
        func `the compiler accepts the code of the iOS app`(page: String, count: Int) async throws {
            try await TemporaryDirectory.with { directory in
                var blocks = try Self.code(of: page)
                #expect(blocks.count == count)
                // They use the proofs of the other page.
                if ["native-apps.md", "linking.md"].contains(page) {
                    blocks += try Self.code(of: "app-check.md")
                }
                let frameworks = [
                    "AuthenticationServices", "CryptoKit", "DeviceCheck", "SwiftUI", "Security", "UIKit",
                ]
                let code = frameworks.reduce("import FoundationNetworking\n" + blocks.joined(separator: "\n"))
                {
                    $0.replacing("import \($1)\n", with: "import Foundation\n")
                }
                let app = "\(directory.path)/App.swift"
                try Data(code.utf8).write(to: URL(fileURLWithPath: app))
                let standIns = ProjectFolder.root.appendingPathComponent(
                    "Tests/siwa/EndToEndTests/Clients/AppleStandIns.swift")
                // As far as SIL, where the compiler also finds overlapping accesses and what is not
                // initialized.
                let printed = try await ExampleBackend.paste(
                    "swiftc -emit-sil -wmo -o /dev/null -parse-as-library -swift-version 6 '\(standIns.path)' '\(app)'; echo $?",
                    in: directory)
                #expect(printed == ["0"])
            }
        }

        /// The part of the model that needs no framework of Apple's, in a program.
        @Test func `the app of the page ends linking for a disabled account, whatever the status is`()
            async throws
        {
            let model = try Self.code(of: "linking.md").first ?? ""
            let start = try #require(model.firstRange(of: "struct GoogleLinkReply"))
            let program = """
                import Foundation
                enum GoogleLinking { struct Prompt: Decodable {} }
                \(model[start.lowerBound...])
                for body in [
                    #"{"error":"account_disabled"}"#, #"{"error":"session_ended"}"#, "{}",
                    #"{"error":"attestation_invalid","cause":"challenge_used","re_attest":false}"#,
                    #"{"error":"attestation_invalid","cause":"attestation_key_unknown","re_attest":true}"#,
                    #"{"error":"attestation_required","cause":"proof_missing","re_attest":false}"#,
                ] {
                    let reply = try JSONDecoder().decode(GoogleLinkReply.self, from: Data(body.utf8))
                    print(reply.errorForGoogle, reply.wantsAnotherProof)
                }
                """
            try await TemporaryDirectory.with { directory in
                try Data(program.utf8).write(to: URL(fileURLWithPath: "\(directory.path)/main.swift"))
                let printed = try await ExampleBackend.paste(
                    "cd '\(directory.path)' && swiftc -swift-version 6 -o reply main.swift && ./reply",
                    in: directory)
                #expect(
                    printed == [
                        "unrecoverable false", "cancelled false", "cancelled false", "cancelled true",
                        "cancelled true", "cancelled false",
                    ])
            }
        }

        /// The Swift code of a page from the section on the app on.
        private static func code(of page: String) throws -> [Substring] {
            let page = try ProjectFolder.text("docs/\(page)")
            let section = try #require(page.firstRange(of: /#+ The (iOS )?app\n/))
            return page[section.upperBound...].split(separator: "```swift\n").dropFirst()
                .compactMap { $0.split(separator: /\n *```/).first }
        }
    #endif
}

/// The commands of `docs/app-check.md`, against `siwa dev`.
@Suite struct AppCheckPageTests {
    @Test(.timeLimit(.hung))
    func `the lines of the page register a key, and sign in with a proof`() async throws {
        try await DevelopmentProcess.with(["--log-level", "error"]) { system in
            let script = try #require(try ExampleBackend.lines(of: "app-check.md", beginning: "SIWA="))
            let printed = try await ExampleBackend.paste(system.own(script), in: system.directory)
            try #require(printed.count == 5, "\(printed)")
            #expect(printed[0].contains(#""is_new_key":true"#))
            #expect(printed[1].contains(#""app_check":{"kind":"verified""#))
            #expect(printed[2].contains(#""cause":"counter_not_increased""#))
            #expect(printed[3].contains(#""app_check":{"kind":"unknown_origin""#))
            #expect(printed[4].contains(#""counter":1,"#) && printed[4].contains(#""risk_metric":1"#))
        }
    }
}

/// The backend of README.md against `siwa dev`.
@Suite struct ReadmeExampleTests {
    @Test func `the backend of the README signs in, and tells a refusal from it`() async throws {
        let readme = try ProjectFolder.text("README.md")
        let example = try #require(readme.components(separatedBy: "```python\n").dropFirst().first)
        let code = try #require(example.components(separatedBy: "```").first)
        try await DevelopmentProcess.with { system in
            let run = try await OperatorTool.run(
                "python3", ["-c", code + Self.driver, "http://127.0.0.1:\(system.applePort)"],
                ["SIWA": "http://127.0.0.1:\(system.port)"], in: system.directory
            ).checked()
            let limits = JSONLimits(depth: 8, members: 64)
            let responses = try #require(try JSONValue(parsing: Array(run.output.utf8), limits: limits).array)
            let accounts = responses.prefix(2).map { $0["account"]?["id"]?.string }
            #expect(accounts[0]?.hasPrefix("acc_") == true)
            #expect(accounts[0] == accounts[1])
            #expect(responses[0]["account"]?["first_name"] == "Ada")
            #expect(
                responses.dropFirst(2).map { $0["refused"]?.string } == [
                    "nonce_used", "nonce_missing", "nonce_missing", "nonce_mismatch",
                    "credential_revoked", "raised 401",
                ])
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

/// Compares the service with its OpenAPI document, with tools that know only the document.
@Suite struct OpenAPIConformanceTests {
    @Test func `the document is what the service prints, and is valid OpenAPI`() async throws {
        try await TemporaryDirectory.with { directory in
            let document = ProjectFolder.root.appending(path: "docs/openapi.yaml").path
            let printed = try await ProgramRun.of(
                try BuiltSiwa.url(), ["openapi"], environment: [:], in: directory.path)
            #expect(printed.output == (try String(contentsOfFile: document, encoding: .utf8)))
            try await PythonTools.run("openapi-spec-validator", [document], in: directory).checked()
        }
    }

    /// All phases: the document's examples, the limits of every schema, random valid and invalid requests,
    /// and requests that use earlier responses. The fake Apple provides tokens, so that sign-ins succeed.
    @Test(.timeLimit(.hung))
    func `schemathesis finds no difference between the description and the service`() async throws {
        try await TemporaryDirectory.with { directory in
            let (port, applePort) = (try FreePort.find(), try FreePort.find())
            let service = "http://127.0.0.1:\(port)"
            try await DevelopmentProcess.printing(
                ["dev", "--port", "\(port)", "--emulator-port", "\(applePort)", "--log-level", "error"],
                until: "Ctrl-C", in: directory
            ) { _ in
                let settings = ProjectFolder.root.appendingPathComponent("Tests/siwa/Schemathesis")
                let run = try await PythonTools.run(
                    "schemathesis",
                    [
                        "--config-file", settings.appendingPathComponent("schemathesis.toml").path,
                        "run", settings.appendingPathComponent("openapi.yaml").path, "--url", service,
                        "--phases", "examples,coverage,fuzzing,stateful",
                        "--header", "Authorization: Bearer \(DevelopmentSettings.secret)",
                    ],
                    [
                        "SCHEMATHESIS_HOOKS": settings.appendingPathComponent("hooks.py").path,
                        "SIWA_FAKE_APPLE": "http://127.0.0.1:\(applePort)",
                    ], in: directory)
                #expect(run.status == 0, "\(Self.failures(in: run.output))")
                // A run without tests would have no failures either.
                let counts = try #require(
                    run.output.firstMatch(of: /Selected: (\d+)\/(\d+)\s+Tested: (\d+)/)?.output)
                #expect(counts.1 == counts.2 && counts.1 == counts.3)
                #expect((Int(counts.1) ?? 0) >= 20)
            }
        }
    }

    /// Tests in other languages drive the fakes by these documents.
    @Test(.timeLimit(.hung))
    func `the documents of the fakes are valid, and so is every response to a request that follows them`()
        async throws
    {
        let settings = ProjectFolder.root.appending(path: "Tests/siwa/Schemathesis")
        try await DevelopmentProcess.with(["--log-level", "error"]) { system in
            try await TemporaryDirectory.with { directory in
                for api in [
                    "\(system.apple)/emulator", "\(system.google)/control", "\(system.receiver)/control",
                ] {
                    let file = "\(directory.path)/openapi.json"
                    let document = try await TestClient.send(.GET, "\(api)/openapi.json")
                    try Data(document.text.utf8).write(to: URL(fileURLWithPath: file))
                    try await PythonTools.run("openapi-spec-validator", [file], in: directory).checked()
                    let run = try await PythonTools.run(
                        "schemathesis",
                        [
                            "--config-file", settings.appending(path: "fakes.toml").path,
                            "run", "\(api)/openapi.json", "--mode", "positive",
                        ], ["SCHEMATHESIS_HOOKS": settings.appending(path: "fake_hooks.py").path],
                        in: directory)
                    #expect(run.status == 0, "\(Self.failures(in: run.output))")
                    let counts = try #require(
                        run.output.firstMatch(of: /Selected: (\d+)\/(\d+)\s+Tested: (\d+)/)?.output)
                    #expect(counts.1 == counts.2 && counts.1 == counts.3 && (Int(counts.1) ?? 0) > 5)
                }
            }
        }
    }

    /// The report begins with a page about what was loaded, and some readers of a failed test see its first lines only.
    private static func failures(in report: String) -> Substring {
        report.firstMatch(of: /=+ (ERRORS|FAILURES) =+/).map { report[$0.range.lowerBound...] } ?? report[...]
    }
}
