import AppleEmulator
import Composition
import Encodings
import Foundation
import Yams

/// The people listed in a file, for `--seed`.
///
/// ```yaml
/// people:
///   - name: Ada Lovelace            # first and last name, at most 320 bytes each
///     email: ada@example.com        # default: made of the name; none: no address
///     email_verified: true
///     hides_email: true             # apps see a relay address
///     real_user_status: likely_real # or unknown, unsupported, none
///     sub: ada                      # default: a random user ID in Apple's format
///     signed_in: true               # siwa dev signs the person in at startup
/// ```
struct SeedFile: Sendable {
    /// Maximum file size in bytes.
    static let longest = 1 << 20
    /// Maximum number of people. The fake Apple holds up to 10,000 people, including the permanent one.
    static let mostPeople = 9999

    let people: [SeedPerson]

    /// Reads a file. Throws `SeedMistakes`, which lists all mistakes in the file.
    init(path: String) throws {
        let place = URL(fileURLWithPath: path)
        guard let file = try? FileHandle(forReadingFrom: place) else {
            throw SeedMistakes(path, ["there is no such file, or this user cannot read it"])
        }
        defer { try? file.close() }
        guard let data = try? file.read(upToCount: Self.longest + 1) else {
            throw SeedMistakes(path, ["cannot be read; a YAML file is expected"])
        }
        try self.init(data, path: path)
    }

    /// - Parameter path: File name to use in errors.
    /// - Throws: `SeedMistakes`.
    init(_ data: Data, path: String) throws {
        guard data.count <= Self.longest else {
            throw SeedMistakes(path, ["is larger than \(Self.longest) bytes; leave people out"])
        }
        var reader = SeedReader()
        do {
            guard let root = try Parser(yaml: data).singleRoot() else {
                throw SeedMistakes(path, ["is empty; a list named people is expected"])
            }
            people = reader.people(of: root)
        } catch let error as YamlError {
            throw SeedMistakes(path, [SettingsFile.words(for: error)])
        }
        guard reader.mistakes.isEmpty else { throw SeedMistakes(path, reader.mistakes) }
    }
}

/// One person in the file.
struct SeedPerson: Sendable {
    var recipe = UserRecipe()
    var signsIn = false
}

/// All mistakes in a file, so that they can be corrected together. They contain line numbers, but no values.
struct SeedMistakes: Error, CustomStringConvertible {
    /// Maximum number of mistakes that the text lists.
    private static let shown = 20

    let path: String
    let list: [String]

    init(_ path: String, _ list: [String]) { (self.path, self.list) = (path, list) }

    var description: String {
        guard list.count > 1 else { return "\(path): \(list.first ?? "cannot be used")" }
        let rest = list.count > Self.shown ? ["  and \(list.count - Self.shown) more"] : []
        return "\(path) has \(list.count) mistakes:\n"
            + (list.prefix(Self.shown).map { "  - \($0)" } + rest).joined(separator: "\n")
    }
}

/// Reads the people in a YAML file, and collects its mistakes.
struct SeedReader {
    private(set) var mistakes: [String] = []

    private static let members = [
        "name", "email", "email_verified", "hides_email", "real_user_status", "sub", "signed_in",
    ]
    private static let statuses: [(name: String, value: Int64?)] = [
        ("unsupported", 0), ("unknown", 1), ("likely_real", 2), ("none", nil),
    ]
    /// Maximum length of a name or an address, in bytes.
    private static let longestText = 320
    /// Maximum length of a user ID, in bytes.
    private static let longestSubject = 255

    mutating func people(of root: Node) -> [SeedPerson] {
        guard let mapping = root.mapping else {
            refuse(root, "must be a mapping with the list people")
            return []
        }
        for (key, _) in mapping where key.scalar?.string != "people" {
            refuse(key, "\(Self.shown(key)) is not known; the file has one list, people")
        }
        guard let list = mapping["people"] else {
            refuse(root, "has no list people")
            return []
        }
        guard let nodes = list.sequence else {
            refuse(list, "people must be a list")
            return []
        }
        guard nodes.count <= SeedFile.mostPeople else {
            refuse(list, "people has \(nodes.count) entries; at most \(SeedFile.mostPeople) fit")
            return []
        }
        var lines: [String: Int] = [:]
        return nodes.map { person(of: $0, lines: &lines) }
    }

    /// - Parameter lines: Lines with the user IDs and addresses read so far, because each must be unique.
    private mutating func person(of node: Node, lines: inout [String: Int]) -> SeedPerson {
        var person = SeedPerson()
        guard let mapping = node.mapping else {
            refuse(node, "a person must be a mapping, such as \"- name: Ada Lovelace\"")
            return person
        }
        for (key, value) in mapping {
            guard let name = key.scalar?.string, Self.members.contains(name) else {
                let nearest = NearestName.of(key.scalar?.string ?? "", among: Self.members) ?? ""
                refuse(key, "\(Self.shown(key)) is not known; did you mean \(nearest)?")
                continue
            }
            guard let text = value.scalar?.string else {
                refuse(value, "\(name) must be a single value")
                continue
            }
            switch name {
            case "name": read(text, value, nameOf: &person)
            case "email": read(text, value, addressOf: &person, lines: &lines)
            case "email_verified": bool(text, value, name).map { person.recipe.isEmailVerified = $0 }
            case "hides_email": bool(text, value, name).map { person.recipe.hidesEmail = $0 }
            case "real_user_status":
                guard let status = Self.statuses.first(where: { $0.name == text }) else {
                    let names = Self.statuses.map(\.name).joined(separator: ", ")
                    refuse(value, "real_user_status must be one of \(names)")
                    continue
                }
                person.recipe.realUserStatus = status.value
            case "sub": read(text, value, subjectOf: &person, lines: &lines)
            default: bool(text, value, name).map { person.signsIn = $0 }
            }
        }
        return person
    }

    private mutating func read(_ text: String, _ node: Node, nameOf person: inout SeedPerson) {
        let words = text.split(separator: " ").map(String.init)
        guard !words.isEmpty, words.allSatisfy({ $0.utf8.count <= Self.longestText }) else {
            return refuse(node, "name must have a first name, of at most \(Self.longestText) bytes")
        }
        let last = words.dropFirst().joined(separator: " ")
        guard last.utf8.count <= Self.longestText else {
            return refuse(node, "name must have a last name of at most \(Self.longestText) bytes")
        }
        (person.recipe.firstName, person.recipe.lastName) = (words[0], last.isEmpty ? nil : last)
    }

    private mutating func read(
        _ text: String, _ node: Node, addressOf person: inout SeedPerson, lines: inout [String: Int]
    ) {
        guard text != "none" else { return person.recipe.email = .none }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.longestText, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
            return refuse(
                node, "email must be an address of at most \(Self.longestText) bytes, or none")
        }
        guard isNew("email \(text.lowercased())", node, "email", &lines) else { return }
        person.recipe.email = .given(text)
    }

    private mutating func read(
        _ text: String, _ node: Node, subjectOf person: inout SeedPerson, lines: inout [String: Int]
    ) {
        // Each fake Apple already has a person with the user ID default.
        guard !text.isEmpty, text.utf8.count <= Self.longestSubject, text != "default",
            text.hasOnlyLettersDigits(and: "-._")
        else {
            return refuse(
                node, "sub must have letters, digits, dots, hyphens and underscores, and is not default")
        }
        guard isNew("sub \(text)", node, "sub", &lines) else { return }
        person.recipe.subject = text
    }

    private mutating func isNew(
        _ value: String, _ node: Node, _ name: String, _ lines: inout [String: Int]
    ) -> Bool {
        if let line = lines[value] {
            refuse(node, "\(name) is the same as in line \(line)")
            return false
        }
        lines[value] = node.mark?.line ?? 0
        return true
    }

    private mutating func bool(_ text: String, _ node: Node, _ name: String) -> Bool? {
        switch text {
        case "true": return true
        case "false": return false
        default:
            refuse(node, "\(name) must be true or false")
            return nil
        }
    }

    private mutating func refuse(_ node: Node, _ text: String) {
        mistakes.append("line \(node.mark?.line ?? 1): \(text)")
    }

    private static func shown(_ key: Node) -> String { String((key.scalar?.string ?? "this").prefix(64)) }
}

extension EmulatorState {
    /// Creates the people in a file. A person from an earlier run with the same user ID or the same address
    /// stays unchanged.
    ///
    /// - Returns: User IDs of the people who must be signed in at startup and do not use the app yet.
    func seed(_ file: SeedFile) throws -> [String] {
        var subjects: [String: EmulatedUser] = [:]
        var addresses: [String: EmulatedUser] = [:]
        for user in users {
            subjects[user.subject] = user
            if let email = user.email { addresses[email.lowercased()] = user }
        }
        var signingIn: [String] = []
        for person in file.people {
            var known = person.recipe.subject.flatMap { subjects[$0] }
            if known == nil, case .given(let email) = person.recipe.email {
                known = addresses[email.lowercased()]
            }
            let user = try known ?? makeUser(person.recipe)
            if person.signsIn, user.apps.isEmpty, !user.isDeleted { signingIn.append(user.subject) }
        }
        return signingIn
    }
}
