import AppleIdentity
import Foundation
import TestSupport
import Testing

/// Coverage that the folders as a whole must have, so that a lost or misspelled case is noticed.
@Suite struct CoverageTests {
    @Test(arguments: AppleTokenError.Code.allCases)
    func `shows every refusal at least twice`(code: AppleTokenError.Code) throws {
        let cases = try tokenCases().filter { $0.content.code == code.rawValue }
        #expect(cases.count >= 2)
    }

    @Test func `knows every code that a case expects`() throws {
        let known = Set(AppleTokenError.Code.allCases.map(\.rawValue))
        for file in try tokenCases() {
            switch (file.content.verdict, file.content.code) {
            case (.refused, let code?): #expect(known.contains(code), "\(file.name)")
            case (.accepted, nil): break
            default: Issue.record("\(file.name): a verdict with the wrong code")
            }
        }
    }

    /// An expectation with a misspelled name would never be compared.
    @Test(arguments: ["identity-tokens", "notifications"])
    func `reads every member of a case`(folder: String) throws {
        let folder = FixtureFolder(folder)
        for name in try folder.names() {
            let unknown = try members(in: folder, name).subtracting(Self.tokenCaseMembers)
            #expect(unknown.isEmpty, "\(name)")
        }
    }

    @Test func `names no file that does not exist`() throws {
        let text = try String(contentsOf: FixtureFolder.root.appending(path: "README.md"), encoding: .utf8)
        let patterns = text.matches(of: /`([a-z-]+)\/([a-z0-9*-]+\.json)`/)
        #expect(patterns.count >= 60)
        for pattern in patterns {
            let parts = pattern.output.2.split(separator: "*", omittingEmptySubsequences: false).map(
                String.init)
            let names = try FixtureFolder(String(pattern.output.1)).names()
            #expect(names.contains { matches($0, parts) }, "\(pattern.output.0)")
        }
    }

    private func tokenCases() throws -> [FixtureFile<TokenCase>] {
        try FixtureFolder("identity-tokens").files() + FixtureFolder("notifications").files()
    }

    /// Matches a name with `parts`, the texts before, between and after asterisks.
    private func matches(_ name: String, _ parts: [String]) -> Bool {
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return [name] == parts }
        guard parts.count == 2 else { return false }
        return name.count >= first.count + last.count && name.hasPrefix(first) && name.hasSuffix(last)
    }

    private func members(in folder: FixtureFolder, _ name: String) throws -> Set<String> {
        let data = Data(try folder.bytes(of: name))
        guard let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw FixtureError("\(name) is no object")
        }
        var paths = Set(object.keys)
        for (member, value) in object {
            guard let inner = value as? [String: Any] else { continue }
            paths.formUnion(inner.keys.map { "\(member).\($0)" })
            for event in inner["events"] as? [[String: Any]] ?? [] {
                paths.formUnion(event.keys.map { "\(member).events.\($0)" })
            }
        }
        return paths
    }

    private static let tokenCaseMembers: Set<String> = {
        var paths = Set(TokenCase.CodingKeys.allCases.map(\.rawValue))
        paths.formUnion(TokenCase.Configuration.CodingKeys.allCases.map { "configuration.\($0.rawValue)" })
        paths.formUnion(TokenCase.Expectations.CodingKeys.allCases.map { "expectations.\($0.rawValue)" })
        paths.formUnion(IdentityFacts.CodingKeys.allCases.map { "identity.\($0.rawValue)" })
        paths.formUnion(NotificationFacts.CodingKeys.allCases.map { "notification.\($0.rawValue)" })
        paths.formUnion(
            NotificationFacts.Event.CodingKeys.allCases.map { "notification.events.\($0.rawValue)" })
        return paths
    }()
}

/// A case with the name of its file. Foundation reads the file, not the reader under test.
struct FixtureFile<Content: Decodable & Sendable>: Sendable, CustomTestStringConvertible {
    let name: String
    let content: Content

    init(_ url: URL) throws {
        name = url.deletingPathExtension().lastPathComponent
        do {
            content = try JSONDecoder().decode(Content.self, from: try Data(contentsOf: url))
        } catch {
            throw FixtureError("\(url.lastPathComponent): \(error)")
        }
    }

    var testDescription: String { name }
}

extension FixtureFolder {
    /// All cases, in the order of their names.
    func files<Content: Decodable>(of type: Content.Type = Content.self) throws -> [FixtureFile<Content>] {
        let files = try names().map { try FixtureFile<Content>(url.appending(path: $0)) }
        guard !files.isEmpty else { throw FixtureError("\(url.lastPathComponent) is empty") }
        return files
    }
}

/// A fixture that cannot be used.
struct FixtureError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Text that is equal only to the same bytes. `String ==` compares by canonical equivalence, which would hide
/// differences between cases.
struct ExactText: Decodable, Hashable, Sendable, CustomStringConvertible {
    let text: String

    init(_ text: String) { self.text = text }

    init?(_ text: String?) {
        guard let text else { return nil }
        self.text = text
    }

    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    static func == (lhs: Self, rhs: Self) -> Bool { Array(lhs.text.utf8) == Array(rhs.text.utf8) }

    func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }

    var description: String { text.debugDescription }
}

/// A moment in the format of fixtures (RFC 3339 in UTC, whole seconds), read by Foundation.
struct Timestamp: Decodable, Hashable, Sendable {
    let secondsSince1970: Int64

    init(_ text: String) throws {
        secondsSince1970 = Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970)
    }

    init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    func date(after seconds: Int64 = 0) throws -> NumericDate {
        guard let date = NumericDate(secondsSince1970: secondsSince1970 + seconds) else {
            throw FixtureError("a moment out of range")
        }
        return date
    }
}
