import Foundation
import SiwaBinary
import TestSupport
import Testing

@testable import siwa_dev

/// Each block of a shell on the pages: it runs here against `siwa dev`, in a test of its own, or not at all for a
/// reason that is named.
@Suite struct PageBlockTests {
    private enum Trial {
        /// Runs here, and prints these words.
        case here([String])
        /// Starts a program here, and ends it when it has printed these words.
        case served(String)
        case by(String)
        case never(String)
    }

    private struct Entry {
        let page: String
        /// Words of one block; `nil` for all blocks of the page.
        var mark: String?
        let trial: Trial

        init(_ page: String, _ mark: String?, _ trial: Trial) {
            (self.page, self.mark, self.trial) = (page, mark, trial)
        }

        func isOf(_ block: Block) -> Bool {
            page == block.page && mark.map { block.text.contains($0) } ?? true
        }
    }

    private struct Block {
        let page: String
        let text: String
    }

    private static let settings = Trial.never("settings, and no commands")

    /// In the order in which they run: a block prints values that later blocks need.
    private static let entries = [
        Entry("native-apps", "grant-type:token-exchange", .here([#""refresh_token":"siwa_rt_"#])),
        Entry("oauth", "/oauth/introspect -H", .here([#"{"active":true,"#, #""client_id":"siwa-phone""#])),
        Entry("events", "/v1/event-receivers/billing/poll", .here([#"{"sets":{"evt_"#])),
        Entry("events", "/oauth/events/verify", .here([#"{"sets":{"#])),
        Entry(
            "oauth", "--kind access-token",
            .here([
                "access-token, verified as of", "id-token, verified as of", "security-event, verified as of",
            ])),
        Entry("oauth", "grant_type=authorization_code", .here([#""refresh_token":"siwa_rt_"#])),
        Entry("oauth", "/oauth/device_authorization", .here([#""user_code":""#])),
        Entry("oauth", "siwa_dc_...", .here([#""error":"authorization_pending""#])),
        Entry(
            "api", "siwa verify --client-id",
            .here(["identity-token, verified as of", #""verdict":"accepted""#])),
        Entry(
            "app-check", "--kind attestation",
            .here(["attestation, verified as of", "assertion, verified as of"])),
        Entry("emulator", "foreign_root", .here(["attestation, verified as of", #""counter":1"#])),
        Entry(
            "accounts-and-states", nil,
            .here([#""disabled":{"reason":"security""#, #""state":"authorized""#])),
        Entry(
            "emulator", "for step in publish",
            .here(["\n200\n", #""refresh_token":"r"#, "\n{}\n", "\npublish ", "\nsign ", "\nretire "])),
        Entry("emulator", "--state-file", .served("Server started")),
        Entry("fake-google", "siwa emulate --google", .served("Server started")),
        Entry("linking", "siwa client new", .here([#"project_id: "my-project""#])),
        Entry("native-apps", "--native-sign-in", .here(["allow_native_sign_in: true"])),
        Entry("native-apps", "--platform linux", .here([#"id: "desktop""#])),
        Entry("native-apps", "--device-grant", .here(["allow_device_grant: true"])),
        Entry("oauth", "siwa client new", .here([#"id: "google""#, #"id: "site""#, #"id: "phone""#])),
        Entry("configuration", "siwa client texts", .here([])),
        Entry("deletion", nil, .here([#""state":"completed""#])),
        Entry("audit", nil, .here(["The audit log is as it was written"])),

        Entry("README", "# Names that", .by("WalkthroughTests")),
        Entry("app-check", "SIWA=", .by("AppCheckPageTests")),
        Entry("backup-and-upgrade", "VACUUM INTO", .by("BackupTests")),
        Entry("backup-and-upgrade", "before-restore", .by("BackupTests")),
        Entry("backup-and-upgrade", "pg_dump", .by("BackupTests")),
        Entry("backup-and-upgrade", "pg_restore", .by("BackupTests")),
        Entry("backup-and-upgrade", "install siwa", .by("DeployPageTests")),
        Entry("backup-and-upgrade", "siwa reseal", .by("DeployPageTests")),
        // Two blocks build; `ScriptTests` and `scripts/test-packages` run them.
        Entry("deploy", nil, .by("DeployPageTests")), Entry("events", "FEED", .by("EventsPageTests")),
        Entry("events", "siwa deliveries list", .by("EventsPageTests")),
        Entry("events", "siwa deliveries verify", .by("EventsPageTests")),
        Entry("events", "RECEIVER=", .by("EventReceiverTests")),
        Entry("integrate", "PASSWORD_USERS", .by("IntegrationPageTests")),
        Entry("integrate", "BACKEND=", .by("BackendHandlerTests")),
        Entry("linking", "siwa dev\n", .by("LinkingPageTests")),
        Entry("linking", "GRANTS=", .by("LinkingPageTests")),
        Entry("linking", "ada@gmail.com", .by("LinkingPageTests")),
        Entry("linking", "--logout", .by("LinkingPageTests")),
        Entry("fake-google", "BACKEND=", .by("LinkingPageTests")),
        Entry("google-events", "siwa dev --database", .by("GoogleEventsTests")),
        Entry("google-events", "risc unregister", .by("GoogleEventsTests")),
        Entry("monitoring", nil, .by("DeployPageTests")),
        Entry("native-apps", "siwa-cli --scope openid --device", .by("DevicePageLooksTests")),
        Entry("oauth", "SITE", .by("OAuthPageTests")),
        Entry("test-your-backend", "scripts/package-wheel", .by("PythonPackageTests")),

        Entry("README", "APPLE_TEAM_ID", settings),
        Entry("backup-and-upgrade", "SIWA_SEALING_KEYS=", settings),
        Entry(
            "backup-and-upgrade", "apt-get install",
            .never("installs a package on the machine; `scripts/test-packages` does so in a bare tree")),
        Entry("high-availability", "DATABASE_URL=", settings), Entry("postgresql", "DATABASE_URL=", settings),
        Entry("tracing", nil, settings),
        Entry(
            "emulator", "--tls-self-signed",
            .never("needs port 443 and the hosts file of the machine; ForeignClientTests uses another port")),
        Entry("high-availability", "pg_basebackup", .never("copies a database server to another machine")),
        Entry("ios-app", "siwa api-key", .never("asks Apple itself; `siwa serve` runs in most tests here")),
        Entry(
            "google-events", "siwa google risc register --service",
            .never("asks Google itself; GoogleEventsTests runs the commands at the fake Google")),
        Entry(
            "postgresql", "createuser", .never("asks for a password, and makes a role of a database server")),
    ]

    /// Lines of blocks that run here, without these.
    private static let leftOut = [
        // A user signs in with a browser: LinkingPageTests, DevicePageLooksTests.
        "siwa login ",
        // Reads the database of a service that does not run: FamilyLookupTests.
        "siwa verify --kind refresh-token --database", "siwa verify --kind authorization-code --database",
    ]

    /// What the pages say, and what runs. `$` begins the name of a value of the trial.
    private static let substitutions = [
        ("https://siwa.internal", "$SIWA"), ("https://signin.example.com", "$SIWA"),
        ("http://localhost:8080", "$SIWA"), ("http://127.0.0.1:8080", "$SIWA"),
        ("http://127.0.0.1:8081", "$APPLE"),
        ("acc_01a1fca4-5699-766a-893b-c1a151389af8", "$ACCOUNT"), ("acc_...", "$ACCOUNT"),
        ("siwa_ac_...", "$CODE"), ("siwa_dc_...", "$DEVICE_CODE"), ("eyJ...", "$ACCESS_TOKEN"),
        ("/var/lib/siwa/siwa.sqlite", "$HERE/dev.sqlite"), ("/etc/siwa/texts/", "$HERE/"),
        // Times of the examples.
        ("2026-11-22T18:00:00Z", "$NOW"), ("2024-02-20T11:42:16Z", "$NOW"), ("2026-10-01T12:00:00Z", "$NOW"),
        ("2027-01-01T00:00:00Z", "$LATER"),
        // The clients of `siwa dev` that may do what the clients of the examples do.
        ("client_id=tv ", "client_id=siwa-cli "),
        ("--client-id shop --nonce \"$NONCE\"", "--client-id siwa-phone"),
        ("client_id=desktop ", "client_id=google -d client_secret=siwa_development_google "),
        (
            "redirect_uri=http://127.0.0.1:9004",
            "redirect_uri=https://oauth-redirect.googleusercontent.com/a/com.google.OPA"
        ),
        ("code_verifier=...", "code_verifier=$VERIFIER"),
        // The fake Apple in place of Apple.
        ("com.example.app < token.txt", "com.example.app --jwks-url $APPLE/auth/keys < token.txt"),
        ("verify --kind attestation", "verify --emulator --kind attestation"),
        // A file for each kind.
        ("--client-id $SIWA < token.txt", "--client-id $SIWA < access-token.txt"),
        ("--client-id siwa-phone < token.txt", "--client-id siwa-phone < id-token.txt"),
        ("--issuer $SIWA < token.txt", "--issuer $SIWA < security-event.txt"),
        // Any port, because the usual one may be in use.
        ("siwa emulate ", "siwa emulate --port 0 "),
    ]

    /// Values that blocks print. A file of the same name in lower case has the value too.
    private static var printed: [(name: String, mark: Regex<(Substring, Substring)>)] {
        [
            ("ACCOUNT", #/"account":\{"id":"(acc_[^"]+)/#), ("CODE", #/code=(siwa_ac_[^&"]+)/#),
            ("DEVICE_CODE", #/"device_code":"(siwa_dc_[^"]+)/#),
            ("ACCESS_TOKEN", #/"access_token":"(eyJ[^"]+)/#), ("ID_TOKEN", #/"id_token":"(eyJ[^"]+)/#),
            ("SECURITY_EVENT", #/"sets":\{"evt_[^"]+":"(eyJ[^"]+)/#),
        ]
    }

    /// Makes what a reader of the pages has: tokens, keys, objects of App Attest, secrets, and a code of App Flip.
    private static let beforehand = #"""
        curl -sS "$APPLE/auth/keys" > keys.json
        curl -sS -X POST "$APPLE/emulator/identity-tokens?format=text" > token.txt
        call() { curl -sS "$SIWA/v1/$1" -H "Authorization: Bearer $SIWA_API_KEY" --json "$2"; }
        SIGNED_IN=$(call sign-ins '{"identity_token":"'$(cat token.txt)'"}'); echo "$SIGNED_IN"
        call oauth/app-flip '{"client_id":"google","state":"s","scope":"openid email","decision":"granted",
            "redirect_uri":"https://oauth-redirect.googleusercontent.com/a/com.google.OPA","code_challenge":"$CHALLENGE_OF_CODE",
            "code_challenge_method":"S256","account_id":"'$(echo "$SIGNED_IN" | grep -o 'acc_[^"]*' | head -n 1)'",
            "authenticated_at":"$NOW"}'
        read_member() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
        MADE=$(curl -sS $APPLE/emulator/app-attest/keys -d \
            '{"challenge":"'$CHALLENGE'","environment":"production","team_id":"A1B2C3D4E5"}')
        echo "$MADE" | read_member key_id > key_id; echo "$MADE" | read_member public_key > public_key
        echo "$MADE" | read_member attestation > attestation.txt
        curl -sS $APPLE/emulator/app-attest/assertions -d \
            '{"key_id":"'$(cat key_id)'","client_data":"'$CLIENT_DATA'"}' | read_member assertion > assertion.txt
        echo siwa_development_google > secret; echo $SIWA_API_KEY > key
        """#

    private static let blocks: [Block] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path + "/docs")) ?? []
        let pages = names.filter { $0.hasSuffix(".md") }.sorted().map { String($0.dropLast(3)) }
        return (["README"] + pages).flatMap { page in
            let path = page == "README" ? "README.md" : "docs/\(page).md"
            let text = (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
            return text.matches(of: #/(?ms)^( *)```sh\n(.*?)^ *```/#).map { match in
                let lines = match.2.split(separator: "\n", omittingEmptySubsequences: false)
                    .map { $0.dropFirst($0.hasPrefix(match.1) ? match.1.count : 0) }
                return Block(page: page, text: lines.joined(separator: "\n"))
            }
        }
    }()

    private static let root = ProjectFolder.root

    @Test func `each block of the pages runs in one test, or has a reason why it does not`() throws {
        #expect(Self.blocks.count > 60)
        for block in Self.blocks { #expect(Self.entries.count { $0.isOf(block) } == 1, "\(block)") }
        let files = FileManager.default.enumerator(atPath: Self.root.path + "/Tests")?.compactMap {
            $0 as? String
        }
        let tests = try (files ?? []).filter { $0.hasSuffix(".swift") }.map {
            try String(contentsOfFile: "\(Self.root.path)/Tests/\($0)", encoding: .utf8)
        }.joined()
        for entry in Self.entries {
            #expect(Self.blocks.contains(where: entry.isOf), "\(entry)")
            guard case .by(let suite) = entry.trial else { continue }
            #expect(tests.contains("struct \(suite) {"), "\(suite)")
        }
    }

    #if os(Linux)
        @Test(.timeLimit(.hung)) func `the blocks that are for a running service work on siwa dev`()
            async throws
        {
            try await TemporaryDirectory.with { directory in
                let options = ["--database", "sqlite://dev.sqlite", "--log-level", "error"]
                try await DevelopmentProcess.with(options, in: directory) { system in
                    try FileManager.default.createSymbolicLink(
                        atPath: directory.path(of: "siwa"), withDestinationPath: BuiltSiwa.url().path)
                    var values = Self.values(for: system, in: directory)
                    _ = try await Self.run(Self.beforehand, &values, in: directory)
                    for name in ["key_id", "public_key"] {
                        values[name.uppercased()] = try String(
                            contentsOfFile: directory.path(of: name), encoding: .utf8
                        )
                        .trimmingCharacters(in: .newlines)
                    }
                    for entry in Self.entries {
                        for block in Self.blocks where entry.isOf(block) {
                            try await Self.run(entry.trial, Self.own(block.text), &values, in: directory)
                        }
                    }
                }
                #expect(
                    try Data(contentsOf: URL(fileURLWithPath: directory.path(of: "fr.yaml"))).count > 1000)
            }
        }
    #endif

    private static func values(for system: DevelopmentProcess, in directory: TemporaryDirectory) -> [String:
        String]
    {
        let now = Date()
        return [
            "HERE": directory.path, "SIWA": system.service, "APPLE": system.apple,
            "SIWA_API_KEY": DevelopmentSettings.secret,
            "API_KEY": DevelopmentSettings.secret, "CHALLENGE": "a-challenge", "CLIENT_DATA": "aGVsbG8=",
            "NOW": now.ISO8601Format(), "LATER": (now + 3600).ISO8601Format(),
            // RFC 7636, appendix B.
            "VERIFIER": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
            "CHALLENGE_OF_CODE": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        ]
    }

    /// The text of a block without the lines that are left out, with the values of the trial.
    private static func own(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { line in !leftOut.contains { line.hasPrefix($0) } }.joined(separator: "\n")
        return substitutions.reduce(lines) { $0.replacing($1.0, with: $1.1) }
    }

    private static func run(
        _ trial: Trial, _ block: String, _ values: inout [String: String], in directory: TemporaryDirectory
    ) async throws {
        switch trial {
        case .here(let words):
            let output = try await run(block, &values, in: directory)
            for word in words { #expect(output.contains(word), "no \(word) in \(output) of \(block)") }
        case .served(let words):
            let command = block.trimmingCharacters(in: .newlines)
            try await run(
                """
                \(command) > served.txt 2>&1 & server=$!
                until grep -q '\(words)' served.txt; do kill -0 $server || { cat served.txt; exit 1; }; sleep 0.05; done
                kill $server
                """, &values, in: directory)
        case .by, .never: break
        }
    }

    /// Returns the output, and keeps the values that later blocks need.
    @discardableResult
    private static func run(
        _ script: String, _ values: inout [String: String], in directory: TemporaryDirectory
    ) async throws -> String {
        // In the text, because a shell replaces nothing between apostrophes. The longest name first.
        let script = values.sorted { $0.key.count > $1.key.count }.reduce(script) {
            $0.replacing("$\($1.key)", with: $1.value)
        }
        let run = try await OperatorTool.run(
            "bash", ["-eu", "-o", "pipefail", "-c", script],
            ["PATH": "\(directory.path):/usr/bin:/bin", "HOME": directory.path], in: directory
        ).checked()
        for (name, mark) in printed {
            guard let match = run.output.firstMatch(of: mark) else { continue }
            values[name] = String(match.1)
            let file = name.lowercased().replacing("_", with: "-")
            try directory.write("\(match.1)\n", to: "\(file).txt")
        }
        return "\n\(run.output)"
    }
}
