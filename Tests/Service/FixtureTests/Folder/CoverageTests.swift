import AppleIdentity
import Foundation
import TestSupport
import Testing

/// Coverage that the folders as a whole must have, so that a lost or misspelled case is noticed.
@Suite struct CoverageTests {
    @Test(arguments: [("identity-tokens", 80), ("notifications", 25), ("scenarios", 18), ("key-sets", 20)])
    func `has enough cases`(folder: String, count: Int) throws {
        #expect(try FixtureFolder(folder).names().count >= count)
    }

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
