import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import siwa

/// Users find subcommands on the pages.
@Suite struct SubcommandPageTests {
    static let names = leaves(of: Siwa.self)

    @Test(arguments: names) func `a page names the subcommand`(name: String) throws {
        let project = ProjectFolder.root
        let folder = project.appending(path: "docs")
        let pages = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" }
        let texts = try (pages + [project.appending(path: "README.md")])
            .map { try String(contentsOf: $0, encoding: .utf8) }
        #expect(texts.contains { $0.contains("siwa \(name)") })
    }

    @Test func `subcommands of subcommands are among them`() {
        #expect(Self.names.contains("client new"))
        #expect(Self.names.contains("serve"))
    }

    private static func leaves(of command: any ParsableCommand.Type) -> [String] {
        command.configuration.subcommands.flatMap { subcommand in
            let name = subcommand._commandName
            let below = leaves(of: subcommand)
            return below.isEmpty ? [name] : below.map { "\(name) \($0)" }
        }
    }
}
