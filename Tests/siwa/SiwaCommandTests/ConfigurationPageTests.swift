import AuthorizationServer
import Foundation
import TestSupport
import Testing

@testable import Composition

/// The tables of the pages on configuration and on OAuth have what the declarations have, and nothing else.
@Suite struct ConfigurationPageTests {
    @Test func `the page has every member of a client, with its kinds, bounds and default`() throws {
        let rows = try Self.table("configuration", "member of a client")
        #expect(rows.flatMap(\.names).sorted() == ClientMember.all.map(\.name).sorted())
        for member in ClientMember.all {
            let row = try #require(rows.first { $0.names.contains(member.name) })
            let kinds = ClientKind.all.filter(member.hasMeaning)
            #expect(!kinds.isEmpty, "\(member.name)")
            let names = kinds.map { "`\($0.name)`" }
            let others = names.dropLast().joined(separator: ", ")
            let start = "For \(others.isEmpty ? "" : others + " and ")\(names.last ?? ""):"
            if kinds.count < ClientKind.all.count {
                #expect(row.meaning.hasPrefix(start), "\(member.name)")
            } else {
                #expect(!row.meaning.hasPrefix("For "), "\(member.name)")
            }
            row.expect(member.value, of: member.name)
        }
    }

    @Test func `the page has the kinds' default of an unused refresh token's lifetime`() throws {
        let row = try #require(
            try Self.table("configuration", "member of a client").first {
                $0.names == ["refresh_token_idle_lifetime"]
            })
        for kind in ClientKind.all {
            let text = kind.refreshTokenIdleLifetime.map { "\($0 / 86_400) days" } ?? "for Google none"
            #expect(row.standard.contains(text), "\(kind.name)")
        }
    }

    @Test func `the page has every member of the section oauth, with its bounds and default`() throws {
        let rows = try Self.table("configuration", "member of `oauth`")
        #expect(rows.flatMap(\.names).sorted() == OAuthDraft.members.map(\.name).sorted())
        for member in OAuthDraft.members {
            let row = try #require(rows.first { $0.names.contains(member.name) })
            switch member.content {
            case .value(let value): row.expect(value, of: member.name)
            case .section, .sections: #expect(row.standard.isEmpty, "\(member.name)")
            }
        }
        let scopes = try #require(rows.first { $0.names == ["scopes"] })
        for member in ScopeDraft.members { #expect(scopes.meaning.contains("`\(member.name)`")) }
    }

    @Test func `the page has every member of app_attest, with its default`() throws {
        let rows = try Self.table("configuration", "member of `app_attest`")
        #expect(rows.flatMap(\.names) == SettingsFile.AttestedApp.members.map(\.name))
        for (row, member) in zip(rows, SettingsFile.AttestedApp.members) {
            guard case .value(let value) = member.content else { continue }
            row.expect(value, of: member.name)
        }
    }

    @Test func `the page has every member of a webhook`() throws {
        let rows = try Self.table("configuration", "member of a webhook")
        #expect(rows.flatMap(\.names) == SettingsFile.Webhook.members.map(\.name))
        for (row, member) in zip(rows, SettingsFile.Webhook.members) {
            guard case .value(let value) = member.content else { continue }
            row.expect(value, of: member.name)
        }
    }

    @Test func `the page's example of several teams has every member`() throws {
        let page = try Self.page("configuration")
        let part = try #require(page.components(separatedBy: "\n## Several teams and apps\n").last)
        let block = try #require(part.components(separatedBy: "```yaml\n").dropFirst().first)
            .components(separatedBy: "```")[0]
        let shown = Set(block.matches(of: /(?m)^[ #-]*([a-z_]+):/).map { String($0.1) })
        let sections = SettingsFile.Sections.members.map(\.name).filter { $0 != "oauth" }
        let entries =
            SettingsFile.Team.members.map(\.name) + SettingsFile.TeamApp.members.map(\.name)
            + SettingsFile.AttestedApp.members.map(\.name) + SettingsFile.Key.members.map(\.name)
            + SettingsFile.Webhook.members.map(\.name)
        let settings = Set(Setting.ofFile.map(\.nameInFile))
        #expect(shown.subtracting(settings) == Set(sections + entries))
    }

    @Test func `the page on OAuth has every kind of client, with what it does`() throws {
        let rows = try Self.cells("oauth", "kind")
        #expect(rows.map { $0[0] } == ClientKind.all.map { "`\($0.name)`" })
        for (kind, cells) in zip(ClientKind.all, rows) {
            try #require(cells.count == 6)
            #expect(cells[1] == (kind.isConfidential ? "yes" : "no"), "\(kind.name)")
            #expect(cells[2].hasPrefix("required") == (kind.proofKeyRule == .required), "\(kind.name)")
            let isRelaxed = kind.members.contains { $0.name == "require_pkce" }
            #expect(cells[2].contains("`require_pkce`") == isRelaxed, "\(kind.name)")
            #expect(cells[3].contains("project") == (kind.redirectURIs == .ofGoogle), "\(kind.name)")
            #expect(cells[3].contains("scheme") == (kind.redirectURIs == .ofInstalledApp), "\(kind.name)")
            #expect(cells[4].contains("is not rotated") == !kind.rotatesRefreshTokens, "\(kind.name)")
            #expect(cells[4].contains("`offline_access`") == kind.needsOfflineAccess, "\(kind.name)")
            let isForEver = kind.refreshTokenIdleLifetime == nil
            #expect(cells[4].contains("does not expire") == isForEver, "\(kind.name)")
            #expect(cells[5] == (kind.remembersConsent ? "once" : "every time"), "\(kind.name)")
        }
    }

    /// A row of a table of members.
    struct Row {
        let names: [String]
        let standard: String
        let meaning: String

        /// Expects the bounds and the default of the value.
        func expect<Draft>(_ value: DraftValue<Draft>, of name: String) {
            switch value {
            case .text, .word, .texts, .optionalList: #expect(standard.isEmpty, "\(name)")
            // Another setting, or nothing.
            case .optionalText: #expect(!standard.contains("none"), "\(name)")
            case .optionalWord(_, let word): expect(word.map { "`\($0)`" }, of: name)
            case .list(_, let words):
                expect(words.isEmpty ? nil : words.map { "`\($0)`" }.joined(separator: ", "), of: name)
            case .flag(_, let flag): expect("`\(flag)`", of: name)
            case .number(_, let bounds, _, let number):
                expect("\(number)", of: name)
                #expect(meaning.contains(Self.words(bounds)), "\(name)")
            case .optionalSeconds(_, let bounds):
                expect("none", of: name)
                #expect(meaning.contains(Self.words(bounds)), "\(name)")
            }
        }

        private func expect(_ text: String?, of name: String) {
            if let text {
                #expect(standard.contains(text), "\(name)")
            } else {
                #expect(standard.isEmpty, "\(name)")
            }
        }

        private static func words(_ bounds: ClosedRange<Int64>) -> String {
            if bounds.upperBound == 315_360_000 { return "at most ten years" }
            var digits = "\(bounds.upperBound)"
            if digits.count > 4 { digits.insert(",", at: digits.index(digits.endIndex, offsetBy: -3)) }
            return "\(bounds.lowerBound) to \(digits)"
        }
    }

    private static func table(_ page: String, _ heading: String) throws -> [Row] {
        try cells(page, heading).map { cells in
            try #require(cells.count == 3)
            return Row(
                names: cells[0].matches(of: /`([^`]+)`/).map { String($0.1) }, standard: cells[1],
                meaning: cells[2])
        }
    }

    /// The cells of the table whose first heading this is.
    private static func cells(_ page: String, _ heading: String) throws -> [[String]] {
        let lines = try Self.page(page).components(separatedBy: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("| \(heading) |") })
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.dropFirst().dropLast().components(separatedBy: "|")
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private static func page(_ name: String) throws -> String {
        let root = ProjectFolder.root
        return try String(contentsOf: root.appending(path: "docs/\(name).md"), encoding: .utf8)
    }
}

/// Parts of the configuration that a start compares with the last start, for the audit log.
@Suite struct ConfigurationFingerprintsTests {
    private static let file = """
        api_keys:
          - {name: ops, hash: \(String(repeating: "a", count: 64)), roles: [operator]}
          - {name: backend, hash: \(String(repeating: "b", count: 64))}
        """

    /// Returns the names of the parts that differ between two configurations.
    private static func changed(
        _ first: [String: String], _ second: [String: String], file secondFile: String = file
    ) async throws -> [String] {
        let before = try await fingerprints(first, file)
        let after = try await fingerprints(second, secondFile)
        return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    }

    private static func fingerprints(
        _ changes: [String: String], _ file: String
    ) async throws -> [String: String] {
        try await TemporaryDirectory.with { directory in
            var environment = SettingsReaderTests.minimal
            environment["SIWA_API_KEY_HASHES"] = nil
            environment["SIWA_CONFIG"] = try directory.write(file, to: "siwa.yaml")
            let settings = try await SettingsReader.read(environment: environment.merging(changes) { $1 })
            // The file has another name in each run.
            return settings.fingerprints.filter { $0.key != "setting SIWA_CONFIG" }
        }
    }

    @Test func `the same configuration has the same fingerprints, in any order of its members`() async throws
    {
        let other = """
            api_keys:
              - {name: backend, hash: \(String(repeating: "b", count: 64))}
              - {roles: [operator], hash: \(String(repeating: "a", count: 64)), name: ops}
            """
        #expect(try await Self.changed([:], [:]) == [])
        #expect(try await Self.changed([:], [:], file: other) == [])
    }

    @Test func `replicas that listen at different places have the same fingerprints`() async throws {
        #expect(
            try await Self.changed(
                ["SIWA_PORT": "8080", "SIWA_HOST": "127.0.0.1"],
                ["SIWA_PORT": "8081", "SIWA_HOST": "0.0.0.0"]) == [])
    }

    @Test func `names the parts that differ, and no others`() async throws {
        let hash = Self.file.replacing(
            String(repeating: "b", count: 64), with: String(repeating: "c", count: 64))
        #expect(try await Self.changed([:], [:], file: hash) == ["api_key backend"])
        let role = Self.file.replacing("[operator]", with: "[operator, backend]")
        #expect(try await Self.changed([:], [:], file: role) == ["api_key ops"])
        #expect(try await Self.changed([:], ["SIWA_LOG_LEVEL": "error"]) == ["setting SIWA_LOG_LEVEL"])
        let (one, two) = ("a=\(SealingSettingsTests.first)", "b=\(SealingSettingsTests.second)")
        #expect(
            try await Self.changed(["SIWA_SEALING_KEYS": one], ["SIWA_SEALING_KEYS": "\(two),\(one)"])
                == ["first sealing key", "sealing_key b"])
        let same = "a=\(SealingSettingsTests.second)"
        #expect(
            try await Self.changed(["SIWA_SEALING_KEYS": one], ["SIWA_SEALING_KEYS": same]) == [
                "sealing_key a"
            ])
    }

    @Test func `no fingerprint shows a key, and a secret that a person may have chosen has none`()
        async throws
    {
        let key = "a=\(SealingSettingsTests.first)"
        let fingerprints = try await Self.fingerprints(
            [
                "SIWA_SEALING_KEYS": key, "DATABASE_URL": "sqlite://other.sqlite",
                "SIWA_TRACES_URL": "http://127.0.0.1:4318", "SIWA_TRACES_HEADERS": "authorization=Basic aTpi",
            ], Self.file)
        #expect(fingerprints["setting SIWA_TRACES_URL"] != nil)
        for setting in Setting.all where setting.isSecret {
            #expect(fingerprints["setting \(setting.name)"] == nil, "\(setting.name)")
        }
        // A key that is first is named, because a second fingerprint would look like that of another key.
        #expect(fingerprints["first sealing key"] == "a")
        for (name, value) in fingerprints where name != "first sealing key" {
            #expect([8, 16].contains(value.count) && value.allSatisfy(\.isHexDigit))
            #expect(!String(repeating: "a", count: 64).hasPrefix(value))
        }
    }
}
