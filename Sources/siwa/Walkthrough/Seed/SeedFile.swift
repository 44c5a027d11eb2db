import AppleEmulator
import Foundation
import Yams

/// The people of a file, for `--seed`.
///
/// ```yaml
/// people:
///   - name: Ada Lovelace            # first and last name, at most 320 bytes each
///     email: ada@example.com        # default: made of the name; none: no address
///     email_verified: true
///     hides_email: true             # apps see a relay address
///     real_user_status: likely_real # or unknown, unsupported, none
///     sub: ada                      # default: a random user ID in Apple's format
///     signed_in: true               # siwa dev signs the person in at the start
/// ```
struct SeedFile: Sendable {
    /// Bytes of the file.
    static let longest = 1 << 20
    /// The fake Apple has room for 10,000 people, of whom one is always there.
    static let mostPeople = 9999

    let people: [SeedPerson]

    /// Throws `SeedMistakes`.
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

    /// - Parameter path: Name of the file in errors. Throws `SeedMistakes`.
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

/// A person of the file.
struct SeedPerson: Sendable {
    var recipe = UserRecipe()
    var signsIn = false
}

/// All mistakes of a file, so that they can be corrected together. They name lines, and repeat no values.
struct SeedMistakes: Error, CustomStringConvertible {
    /// Number of mistakes in the text.
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
