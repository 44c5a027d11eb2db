import Foundation
import Testing

/// The pages name what the sources have: each setting, call, error code, log line and public path.
@Suite struct PageContentTests {
    private static let interface = Document.read("docs/openapi.yaml").text

    private static func page(_ name: String) -> Document { Document.read("docs/\(name).md") }

    @Test func `README has at most 205 lines`() {
        #expect(Document.readme.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 206)
    }

    @Test func `the page on configuration has every setting, and no other`() {
        let known = Self.settings()
        let named = Self.page("configuration").firstColumns.filter {
            $0.wholeMatch(of: #/[A-Z]+_[A-Z_]+/#) != nil
        }
        #expect(!known.isEmpty)
        #expect(named.sorted() == known.sorted())
    }

    @Test func `docker-compose.yml passes on settings that there are, and the file of SIWA_CONFIG`() {
        let text = Document.read("docker-compose.yml").text
        let passed = text.matches(of: #/\n {2,}((?:SIWA|APPLE)_[A-Z_]+):/#).map { String($0.1) }
        #expect(passed.count > 10)
        #expect(Set(passed).isSubset(of: Self.settings()))
        let file = "/etc/siwa/siwa.yaml"
        #expect(text.contains("\n  SIWA_CONFIG: ${SIWA_CONFIG:+\(file)}\n"))
        let source = "source: ${SIWA_CONFIG:-/dev/null}"
        #expect(text.contains("\n  \(source)\n  target: \(file)\n  read_only: true\n"))
        // Each service that has these settings has the file.
        let services = text.components(separatedBy: "*settings").count
        #expect(services == 3 && text.components(separatedBy: "*configuration]").count == services)
    }

    @Test func `docker-compose.yml passes on what README needs, and mounts the key`() throws {
        let readme = Document.readme.text
        let section = try #require(readme.components(separatedBy: "## In production").last)
        let block = section.components(separatedBy: "```sh\n")[1].components(separatedBy: "```")[0]
        let needed = block.matches(of: #/ ([A-Z_]+)=/#).map { String($0.1) }
        #expect(needed.count == 6)
        let text = Document.read("docker-compose.yml").text
        for name in needed { #expect(text.contains("\n  \(name): ${\(name):-"), "\(name)") }
        let source = "source: ${APPLE_PRIVATE_KEY_FILE:-/dev/null}"
        let target = "target: ${APPLE_PRIVATE_KEY_FILE:-/etc/siwa/no-key}"
        #expect(text.contains("\n  \(source)\n  \(target)\n  read_only: true\n"))
        #expect(text.components(separatedBy: "*private-key, *configuration]").count == 3)
    }

    @Test func `docker-compose.yml opens each port that the commands of README use`() throws {
        let readme = Document.readme.text
        let section = try #require(readme.components(separatedBy: "## Try it\n").last).components(
            separatedBy: "\n## ")[0]
        let ports = Set(section.matches(of: #/http://127\.0\.0\.1:(\d+)/#).map { String($0.1) })
        #expect(ports.isSuperset(of: ["8080", "8081", "8083"]))
        let command = try #require(section.firstMatch(of: #/`docker compose --profile (\S+) up (\S+)`/#))
        let services = Document.read("docker-compose.yml").text
        let service = try #require(services.components(separatedBy: "\n  \(command.2):\n").dropFirst().first)
            .components(separatedBy: "\n\n")[0]
        #expect(service.contains("profiles: [\(command.1)]"))
        #expect(service.contains("command: [dev, --host=0.0.0.0]"))
        for port in ports { #expect(service.contains("\"127.0.0.1:\(port):\(port)\""), "\(port)") }
    }

    @Test func `the image and the unit drain, and the image asks its own health check`() {
        let image = Document.read("Dockerfile").text
        #expect(image.contains(#"CMD ["siwa", "healthcheck"]"#))
        #expect(image.contains("SIWA_DRAIN_SECONDS=5"))
        #expect(
            Document.read("docker-compose.yml").text.contains("SIWA_DRAIN_SECONDS: ${SIWA_DRAIN_SECONDS:-5}"))
        let unit = Document.read("docs/deploy/siwa.service").text
        #expect(unit.contains("\nEnvironment=SIWA_DRAIN_SECONDS=5\n"))
        // The metrics of the process read /proc/stat.
        #expect(!unit.contains("\nProcSubset="))
    }

    @Test func `nginx sends what comes without encryption to https, and passes none of it on`() throws {
        let text = Document.read("docs/deploy/nginx.conf").text
        let plain = try #require(text.firstMatch(of: #/server \{\n    listen 80;\n[^}]*\}[^}]*\}\n\}/#)).0
        #expect(plain.contains("return 301 https://signin.example.com$request_uri;"))
        #expect(!plain.contains("proxy_pass"))
    }

    @Test func `a page says how shells complete the commands`() {
        for shell in ["bash", "zsh"] {
            #expect(Self.page("deploy").text.contains("siwa --generate-completion-script \(shell)"))
        }
    }

    @Test func `the page on the interface has every call`() {
        let calls = Self.calls()
        #expect(calls.count > 15)
        let text = Self.page("api").text
        for call in calls {
            #expect(
                text.contains("`\(call.path)`") || text.contains("`\(call.method) \(call.path)`"), "\(call)")
        }
    }

    @Test func `the page on App Attest explains every error code, and no other`() {
        let sources = ["AppAttestationError.swift", "Receipt/ReceiptVerifier.swift"].map {
            Document.read("Sources/Apple/AppAttestation/\($0)").text
        }
        var codes = sources.joined().matches(of: #/case \w+ = "([a-z_]+)"/#).map { String($0.1) }
        #expect(codes.count > 15)
        let faults = Document.read("Sources/Service/SignIn/AppAttest/PostedProof.swift").text
        codes += faults.matches(of: #/code: "([a-z_]+)"/#).map { String($0.1) }
        // Refusals of the transaction, and the cause of another form (AppCheck.swift).
        codes += ["challenge_used", "attestation_key_unknown", "attestation_key_taken", "proof_malformed"]
        let explained = Self.page("app-check").firstColumns.filter { !$0.hasPrefix("--") }
        #expect(Set(codes) == Set(explained))
    }

    @Test(arguments: ["oauth", "monitoring"])
    func `a page explains every reason of a refused token request, and no other`(page: String) throws {
        let source = Document.read("Sources/Domain/AuthorizationServer/Responses/TokenEndpointError.swift")
            .text
        let reasons = source.matches(of: #/case \w+ = "([a-z_]+)"/#).map { String($0.1) }
        #expect(reasons.count > 20)
        let text = Self.page(page).text
        let table = try #require(text.components(separatedBy: "\n| reason |").dropFirst().first)
            .components(separatedBy: "\n\n")[0]
        let explained = table.matches(of: /\n\| ((?:`[a-z_]+`(?:, )?)+) \|/)
            .flatMap { $0.1.matches(of: /[a-z_]+/).map { String($0.0) } }
        #expect(explained.sorted() == reasons.sorted())
    }

    @Test func `each attack of the page on OAuth has a test that is named after it`() throws {
        let section = try #require(Self.page("oauth").text.components(separatedBy: "\n## Attacks\n").last)
        let attacks = section.matches(of: /\n\| `([^`]+)` \|/).map { String($0.1) }
        #expect(attacks.count > 20)
        let tests = Document.files(under: "Tests").filter { $0.hasSuffix(".swift") }
            .flatMap { Document.read($0).text.matches(of: /func `([^`]+)`/).map { String($0.1) } }
        for attack in attacks { #expect(tests.contains { $0.contains(attack) }, "\(attack)") }
    }

    @Test(arguments: ["README.md", "docs/api.md", "docs/deletion.md"])
    func `the examples of JSON are JSON, and have members of the interface`(path: String) throws {
        let blocks = Document.read(path).text.components(separatedBy: "```json\n").dropFirst()
        #expect(!blocks.isEmpty)
        for block in blocks {
            let json = block.components(separatedBy: "```")[0]
            _ = try JSONSerialization.jsonObject(with: Data(json.utf8))
            for match in json.matches(of: /"(\w+)":/) {
                #expect(Self.interface.contains(" \(match.1):"), "\(path): \(match.1)")
            }
        }
    }

    @Test func `the proxies pass on exactly the paths that are called without an API key`() {
        let prefixes = ["/v1/", "/oauth/", "/account/", "/.well-known/"]
        let calls = Self.calls().filter { call in call.isOpen && prefixes.contains { call.path.hasPrefix($0) }
        }
        let open = Set(calls.map(\.path)).sorted()
        #expect(open.count >= 14)
        let nginx = Document.read("docs/deploy/nginx.conf").text
        #expect(nginx.matches(of: #/location = (\S+) /#).map { String($0.1) }.sorted() == open)
        #expect(nginx.contains("location / { return 404; }"))
        let caddy = Document.read("docs/deploy/Caddyfile").text
        let paths = caddy.firstMatch(of: /@public path (.*)\n/)?.1.split(separator: " ").map(String.init)
        #expect(paths?.filter { !$0.hasPrefix("/link/") }.sorted() == open)
        let named = Self.page("deploy").firstColumns.filter { name in
            prefixes.contains { name.hasPrefix($0) }
        }
        #expect(named.sorted() == open)
    }

    /// A user whose iPhone does not have the app opens such a link in the browser.
    @Test func `the proxies pass on the universal links of App Flip`() {
        let path = "/link/google/*"
        let nginx = Document.read("docs/deploy/nginx.conf").text
        #expect(nginx.contains("location \(path.dropLast()) { proxy_pass http://siwa; }"))
        let caddy = Document.read("docs/deploy/Caddyfile").text
        let paths = caddy.firstMatch(of: /@public path (.*)\n/)?.1.split(separator: " ").map(String.init)
        #expect(paths?.contains(path) == true)
        #expect(Self.page("deploy").firstColumns.contains(path))
    }

    @Test func `the page on monitoring has every log message of the sources`() {
        let said = Self.messages()
        #expect(said.count > 30)
        let explained = Self.page("monitoring").text.replacing("\n", with: " ")
        for message in said {
            #expect(explained.contains("`\(message)`"), "\(message)")
        }
    }

    @Test func `the sources have every log message of the page on monitoring`() {
        let sources = Document.files(under: "Sources").filter { $0.hasSuffix(".swift") }
            .map { Document.read($0).text }.joined()
        let log = Self.page("monitoring").text.components(separatedBy: "## The log\n").last ?? ""
        for message in Document(path: "", text: log).firstColumns {
            let fixed = message.split(separator: "…").first.map(String.init) ?? message
            // Hummingbird's.
            guard !fixed.hasPrefix("Server started") else { continue }
            #expect(sources.contains("\"\(fixed)"), "\(message)")
        }
    }

    /// In a shell, pasted commands go on after a failed command, without its result.
    @Test(arguments: ["docs/deploy.md", "docs/backup-and-upgrade.md"])
    func `every block of several commands stops at its first error`(path: String) {
        let blocks = Document.read(path).text.components(separatedBy: "```sh\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        #expect(blocks.count > 3)
        for block in blocks {
            // The lines of one command, and of variables, need nothing.
            let commands = block.replacing("\\\n", with: "").split(separator: "\n")
                .filter { $0.prefixMatch(of: /#|[A-Z_]+=| *$/) == nil }
            guard commands.count > 1 else { continue }
            #expect(block.hasPrefix("(\nset -eu\n") && block.hasSuffix("\n)\n"), "\(block)")
        }
    }

    private struct Call: CustomStringConvertible {
        let method: String
        let path: String
        /// True for a call without an API key.
        var isOpen = false

        var description: String { "\(method) \(path)" }
    }

    private static func settings() -> [String] {
        Document.files(under: "Sources/Composition/Configuration").filter { $0.hasSuffix("/Setting.swift") }
            .flatMap { path in
                Document.read(path).text.matches(of: #/Setting\(\s*"([A-Z]+_[A-Z_]+)"/#).map { String($0.1) }
            }
    }

    /// Reads the calls from the lines of `openapi.yaml`, which has a fixed form.
    private static func calls() -> [Call] {
        var calls: [Call] = []
        var path = ""
        for line in interface.split(separator: "\n") {
            if let match = line.wholeMatch(of: #/  (/\S*):/#) {
                path = String(match.1)
            } else if let match = line.wholeMatch(of: #/    (get|post|delete):/#) {
                calls.append(Call(method: match.1.uppercased(), path: path))
            } else if line.hasPrefix("      security:"), !calls.isEmpty {
                calls[calls.count - 1].isOpen = true
            } else if line == "components:" {
                break
            }
        }
        return calls
    }

    /// Messages that are logged by swift-log, by the throttling methods, and by types that count and log
    /// later.
    private static func messages() -> Set<String> {
        let calls = [
            #/logger\.(?:debug|info|notice|warning|error|critical)\(\s*"([^"\\]+)"/#,
            #/\b(?:tell|report|log)\(\s*"([^"\\]+)"/#, #/Notice\(\s*"([^"\\]+)"/#,
            #/\bun(?:claimed|stored):\s*"([^"\\]+)"/#,
        ]
        let lines = [#/message:\s*"([^"\\]+)"/#]
        let sources = Document.files(under: "Sources").filter {
            $0.hasSuffix(".swift") && !$0.hasPrefix("Sources/Fakes/AppleEmulator")
        }
        return Set(
            sources.flatMap { path in
                let text = Document.read(path).text
                return (calls + (path.contains("/Composition/") ? lines : []))
                    .flatMap { text.matches(of: $0).map { String($0.1) } }
            })
    }
}

/// The page on the audit log has the words of the log.
@Suite struct AuditPageTests {
    private static let page = Document.read("docs/audit.md")

    private static func words(of file: String, after start: String) -> [String] {
        let text = Document.read("Sources/Domain/AppleAccounts/Audit/\(file).swift").text
        let declaration =
            text.components(separatedBy: start).dropFirst().first?
            .components(separatedBy: "\n}")[0].components(separatedBy: "\n    }")[0] ?? ""
        return declaration.matches(of: #/case (\w+)(?: = "([a-z_]+)")?/#).map { match in
            match.output.2.map(String.init) ?? String(match.output.1)
        }
    }

    @Test func `the page explains every kind of row, and no other`() throws {
        let words = Self.words(of: "AuditEntry", after: "enum AuditAction")
        #expect(words.count > 15)
        let table = try #require(Self.page.text.components(separatedBy: "\n| `action` |").dropFirst().first)
            .components(separatedBy: "\n\n")[0]
        let explained = table.matches(of: /\n\| ((?:`[a-z_]+`(?:, )?)+) \|/)
            .flatMap { $0.1.matches(of: /[a-z_]+/).map { String($0.0) } }
        #expect(explained.sorted() == words.sorted())
    }

    @Test func `the page explains every kind of actor, and no other`() throws {
        let words = Self.words(of: "AuditEntry", after: "enum Kind")
        #expect(words.count > 5)
        let table = try #require(
            Self.page.text.components(separatedBy: "\n| `actor_kind` |").dropFirst().first
        )
        .components(separatedBy: "\n\n")[0]
        let explained = table.matches(of: /\n\| ((?:`[a-z_]+`(?:, )?)+) \|/)
            .flatMap { $0.1.matches(of: /[a-z_]+/).map { String($0.0) } }
        #expect(explained.sorted() == words.sorted())
    }
}

/// The page on the fakes names what the receivers of events have.
@Suite struct ReceiverPageTests {
    private static let section =
        Document.read("docs/emulator.md").text.components(separatedBy: "\n## Receivers of events\n").last
        ?? ""

    @Test(arguments: [
        ("fault", "Sources/Fakes/ReceiverEmulator/ReceiverFault.swift", "enum Kind"),
        ("reason", "Sources/Fakes/ReceiverEmulator/Verification/MessageRefusal.swift", "enum Code"),
    ])
    func `explains every fault and every reason, and no other`(table: String, file: String, type: String)
        throws
    {
        let source = try #require(Document.read(file).text.components(separatedBy: type).dropFirst().first)
            .components(separatedBy: "\n    }\n")[0]
        let words = source.matches(of: /case (\w+)(?: = "(\w+)")?/).map { String($0.2 ?? $0.1) }
        #expect(words.count > 5)
        let rows = try #require(Self.section.components(separatedBy: "\n| `\(table)` |").dropFirst().first)
            .components(separatedBy: "\n\n")[0]
        let explained = Document(path: "", text: rows).firstColumns
        #expect(explained.sorted() == words.sorted())
    }

    @Test func `has every member of a message`() {
        let source = Document.read("Sources/Fakes/ReceiverEmulator/Messages/ReceivedMessage.swift").text
        let members = source.matches(of: /(?:json\["|\(")([a-z_]+)"/).map { String($0.1) }
        #expect(members.count > 15)
        for member in members { #expect(Self.section.contains("`\(member)`"), "\(member)") }
    }

    @Test func `has the numbers of the sources`() {
        let sources = Document.files(under: "Sources/Fakes/ReceiverEmulator").filter {
            $0.hasSuffix(".swift")
        }
        .map { Document.read($0).text }.joined()
        for (declaration, words) in [
            ("static let capacity = 200", "the latest 200"), ("mostKnown = 2000", "latest 2,000 events"),
            ("longestContent = 8192", "8,192 characters"), ("longestBody = 16 * 1024", "at most 16 KiB"),
            ("static let shown = 50", "the latest 50 messages"), ("watchInterval = 2", "every 2 seconds"),
            ("hangMilliseconds: Int64 = 30_000", "after 30 seconds"), ("hugeBody = 64 << 20", "64 MiB"),
            ("delays: ClosedRange<Int64> = 1...60", "1 to 60"), ("tolerance: Int64 = 300", "5 minutes"),
        ] {
            #expect(sources.contains(declaration), "\(declaration)")
            #expect(Self.section.contains(words), "\(words)")
        }
    }
}
