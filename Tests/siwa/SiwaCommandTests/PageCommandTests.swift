import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import siwa
@testable import siwa_dev

/// What the pages tell a person to type.
@Suite struct PageCommandTests {
    private static let project = ProjectFolder.root

    struct Block: Sendable, CustomStringConvertible {
        let page: String
        let text: String

        var description: String { "\(page): \(text.prefix(60))" }

        /// The arguments of each call of siwa. A block of its own function of that name has none.
        var calls: [[String]] {
            guard !text.contains("siwa() {") else { return [] }
            return text.replacing("\\\n", with: " ").split(separator: "\n").flatMap { line in
                line.prefix(upTo: line.firstRange(of: #/(^|\s)#(\s|$)/#)?.lowerBound ?? line.endIndex)
                    .matches(
                        of: #/(?:^ *|[(;|&] *|[A-Z_]=\S+ +)(?:\.build\/debug\/)?siwa (?=[a-z-])|\/bin\/siwa /#
                    )
                    .map { PageCommandTests.words(of: line[$0.range.upperBound...]) }
            }
        }
    }

    static let blocks: [Block] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: project.path + "/docs")) ?? []
        let pages = ["README.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
        return pages.flatMap { page in
            let text = (try? String(contentsOf: project.appending(path: page), encoding: .utf8)) ?? ""
            return text.matches(of: #/(?ms)^( *)```sh\n(.*?)^ *```/#).map { match in
                Block(page: page, text: String(match.2).replacing("\n\(match.1)", with: "\n"))
            }
        }
    }()

    @Test func `the pages have many blocks, and many calls of siwa`() {
        #expect(Self.blocks.count > 60)
        #expect(Self.blocks.flatMap(\.calls).count > 30)
    }

    @Test(arguments: blocks.filter { !$0.calls.isEmpty })
    func `each call of siwa on a page has a command and options that there are`(block: Block) {
        for call in block.calls where !call.contains("$@") {
            let program: any ParsableCommand.Type =
                DevelopmentProgram.command(in: call) == nil ? Siwa.self : SiwaDev.self
            do {
                _ = try program.parseAsRoot(call)
            } catch {
                // A variable has no value here, which the command may refuse.
                let message = program.message(for: error)
                let isAboutAValue = call.contains { $0.contains("$") } && !message.contains("option")
                #expect(isAboutAValue || program.exitCode(for: error) == .success, "\(call): \(message)")
            }
        }
    }

    @Test(arguments: blocks)
    func `a shell understands each block, and the scripts and files of ours are there`(block: Block)
        async throws
    {
        let shell = block.text.contains("< <(") ? "bash" : "sh"
        try await ProgramRun.of(
            URL(fileURLWithPath: "/usr/bin/env"), [shell, "-n", "-c", block.text]
        ).checked()
        for match in block.text.matches(of: #/(?:^|[ (=])((?:scripts|docs)/[A-Za-z0-9_./-]+)/#) {
            let path = Self.project.appending(path: String(match.1)).path
            #expect(FileManager.default.fileExists(atPath: path), "\(match.1)")
            guard match.1.hasPrefix("scripts/") else { continue }
            #expect(FileManager.default.isExecutableFile(atPath: path), "\(match.1)")
        }
    }

    /// Words of a shell up to the end of the command, without redirections and comments. Variables stay as they are.
    private static func words(of line: Substring) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if ";&|<>)".contains(character) || (character == "#" && word == nil) {
                break
            } else if character.isWhitespace {
                if let ended = word { words.append(ended) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap { $0 }
    }
}

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
