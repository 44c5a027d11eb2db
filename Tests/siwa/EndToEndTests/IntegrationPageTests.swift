import Foundation
import TestSupport
import Testing

/// `docs/integrate.md` shows programs that `BackendHandlerTests` runs.
@Suite struct IntegrationPageTests {
    private static let page = PythonTools.root.appendingPathComponent("docs/integrate.md")

    @Test(arguments: ExampleBackend.allCases)
    func `the page leads to every file of the backends, and shows that in Python as it is`(
        language: ExampleBackend
    ) throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
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
        #expect(page.split(separator: "\n", omittingEmptySubsequences: false).count <= 901)
    }

    @Test func `the hash on the page is that of Grace's password`() async throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let user = try #require(
            page.firstMatch(of: /PASSWORD_USERS=usr_grace:grace@example\.com:(\d+):(\w+):(\w+)\n/))
        #expect(page.contains("password *correct horse*"))
        let program = """
            import hashlib, sys
            times, salt = int(sys.argv[1]), bytes.fromhex(sys.argv[2])
            print(hashlib.pbkdf2_hmac("sha256", b"correct horse", salt, times).hex())
            """
        let run = try await ProgramRun.named("python3", ["-c", program, String(user.1), String(user.2)])
        #expect(run.output == "\(user.3)\n")
    }

    @Test func `the packages of the Swift backend are those that it is built with here`() throws {
        let ours = try String(
            contentsOf: PythonTools.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let readers = try String(
            contentsOf: ExampleBackend.folder.appendingPathComponent("swift/Package.swift"), encoding: .utf8)
        let packages = readers.split(separator: "\n").filter { $0.contains(".package(") }
        #expect(packages.count == 6)
        for line in packages { #expect(ours.contains(line.trimmingCharacters(in: .whitespaces))) }
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
                let standIns = PythonTools.root.appendingPathComponent(
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
            let file = PythonTools.root.appendingPathComponent("docs/\(page)")
            let page = try String(contentsOf: file, encoding: .utf8)
            let section = try #require(page.firstRange(of: /#+ The (iOS )?app\n/))
            return page[section.upperBound...].split(separator: "```swift\n").dropFirst()
                .compactMap { $0.split(separator: /\n *```/).first }
        }
    #endif
}
