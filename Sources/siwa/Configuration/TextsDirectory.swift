import AuthorizationServer
import Foundation
import HTTPAPI
import Yams

/// The files of texts in further languages, which a deployment has in one directory.
struct TextsDirectory {
    private(set) var drafts: [TranslationDraft] = []
    private(set) var mistakes: [OAuthMistake] = []
    private let texts = TranslationDraft.texts(of: PageTexts.parts)

    /// Reads the files. Files whose name begins with a period are left out: some mounts keep such files.
    init(path: String) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            add(
                .textsDirectoryUnreadable,
                "must be a directory that the service can read, with a file like fr.yaml for each language")
            return
        }
        for name in names.sorted() where !name.hasPrefix(".") { read(name, in: path) }
    }

    /// Checks the files, and returns the languages of the pages.
    func languages() -> (languages: PageLanguages, mistakes: [OAuthMistake]) {
        let (languages, found) = PageLanguages.check(drafts, parts: PageTexts.parts)
        return (languages, mistakes + found)
    }

    private mutating func add(_ code: OAuthMistake.Code, _ text: String) {
        mistakes.append(OAuthMistake(code, at: PageLanguages.setting, text))
    }

    private mutating func read(_ name: String, in directory: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, ["yaml", "yml", "json"].contains(parts[1]) else {
            return add(
                .languageTagMalformed,
                "has \(name.debugDescription); name a file of texts as its language, like fr.yaml, and keep no other "
                    + "files there")
        }
        let tag = String(parts[0])
        guard !drafts.contains(where: { $0.tag == tag }) else {
            return add(.translationUnreadable, "has several files for \(tag); remove one")
        }
        guard let content = Self.content(of: "\(directory)/\(name)") else {
            return add(
                .translationUnreadable,
                "has \(name), which cannot be read or has more than \(TranslationDraft.longestFile) bytes")
        }
        var draft = TranslationDraft(file: name, tag: tag, texts: [:])
        do {
            // A file of JSON is YAML too.
            let root = try Parser(yaml: content).singleRoot()
            flatten(root, at: "", into: &draft)
        } catch {
            return add(
                .translationUnreadable,
                "has \(name), which is \((error as? YamlError).map(Self.words) ?? "not YAML")")
        }
        drafts.append(draft)
    }

    /// Returns `nil` for a file that cannot be read, or is too long.
    private static func content(of path: String) -> Data? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        do {
            // An empty file has no data, and is read all the same.
            let content = try handle.read(upToCount: TranslationDraft.longestFile + 1) ?? Data()
            return content.count <= TranslationDraft.longestFile ? content : nil
        } catch {
            return nil
        }
    }

    private static func words(for error: YamlError) -> String { SettingsFile.words(for: error) }

    /// Reads groups of texts. A name that is not known is a mistake here, where its line is known.
    private mutating func flatten(_ node: Node?, at path: String, into draft: inout TranslationDraft) {
        guard let mapping = node?.mapping else {
            let line = node.map { SettingsFile.line($0) } ?? ""
            let place = path.isEmpty ? "the file" : path
            return add(
                .translationUnreadable,
                "has \(draft.file), \(line)\(place) must be a mapping of names to texts")
        }
        let known = names(below: path)
        for (key, node) in mapping {
            let name = key.scalar?.string ?? ""
            let place = path.isEmpty ? name : "\(path).\(name)"
            guard known.contains(name) else {
                let nearest = NearestName.of(name, among: known) ?? ""
                add(
                    .translationUnknown,
                    "has \(draft.file), \(SettingsFile.line(key))\(place) is not known; did you mean \(nearest)?"
                )
                continue
            }
            guard texts.contains(where: { $0.path == place }) else {
                flatten(node, at: place, into: &draft)
                continue
            }
            guard let text = node.scalar?.string else {
                add(
                    .translationUnreadable,
                    "has \(draft.file), \(SettingsFile.line(node))\(place) must be a text")
                continue
            }
            draft.texts[place] = text
        }
    }

    /// The names of the texts and groups directly below a path, in the order of a file.
    private func names(below path: String) -> [String] {
        let start = path.isEmpty ? "" : "\(path)."
        var names: [String] = []
        for (path, _) in texts where path.hasPrefix(start) {
            let name = String(path.dropFirst(start.count).prefix { $0 != "." })
            if names.last != name { names.append(name) }
        }
        return names
    }
}
