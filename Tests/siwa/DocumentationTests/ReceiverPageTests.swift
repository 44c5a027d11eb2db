import Foundation
import Testing

/// The page on the fakes names what the receivers of events have.
@Suite struct ReceiverPageTests {
    private static let section =
        Document.read("docs/emulator.md").text.components(separatedBy: "\n## Receivers of events\n").last
        ?? ""

    @Test(arguments: [
        ("fault", "Sources/Fakes/ReceiverEmulator/Faults/ReceiverFault.swift", "enum Kind"),
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

    @Test func `has every call of the control API`() {
        let source = Document.read("Sources/Fakes/ReceiverEmulator/Routes/ControlRoutes.swift").text
        let calls = source.matches(of: /on\(group, \.(\w+), "([^"]*)"\)/).map { match in
            let path = match.2.isEmpty ? "/control" : "/control/\(match.2)"
            return "\(match.1.uppercased()) \(path.replacing(":receiver", with: "{receiver}"))"
        }
        #expect(calls.count == 7)
        for call in calls {
            #expect(Self.section.contains("`\(call)`") || Self.section.contains("`\(call)?"), "\(call)")
        }
    }

    @Test func `has every member of a message`() {
        let source = Document.read("Sources/Fakes/ReceiverEmulator/Messages/ReceivedMessage+JSON.swift").text
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
