import AppleAccounts
import Encodings
public import StrictJSON

extension UserProfile {
    /// A fault in Apple's user object.
    public enum Fault: Error, Sendable {
        case malformed
        /// A string contains U+0000, which no database can store.
        case characterNotAllowed
    }

    /// Parses the JSON object `user`, which Apple's form sends to a web page.
    public init(parsing text: String) throws(Fault) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: Array(text.utf8))
        } catch {
            throw error.code == .characterNotAllowed ? .characterNotAllowed : .malformed
        }
        guard let object = value.object else { throw .malformed }
        try self.init(object)
    }

    /// Reads the profile in all formats that apps use: Apple's own object
    /// `{"name":{"firstName","lastName"},"email"}`, a library's credential (`fullName`, `givenName`,
    /// `family_name`, flat or nested), or the whole name as one string.
    ///
    /// Ignores unknown members, because Apple and libraries may add members. An empty name counts as absent,
    /// because Apple sends it if the user removed the name. `dropped` lists a name that is too long, and an
    /// invalid address.
    public init(_ object: JSONObject) throws(Fault) {
        var first, last, whole, email: String?
        for (name, value) in object.members {
            switch Self.folded(name) {
            case "name", "fullname", "displayname":
                if let parts = value.object {
                    for (name, value) in parts.members { try Self.read(name, value, &first, &last) }
                } else if whole == nil {
                    whole = try Self.text(value, of: name)
                }
            case "email": email = try Self.text(value, of: name)
            default: try Self.read(name, value, &first, &last)
            }
        }
        if first == nil, last == nil, let words = whole?.split(maxSplits: 1, whereSeparator: \.isWhitespace) {
            first = words.first.map(String.init)
            last = words.count > 1 ? String(words[1]) : nil
        }
        self.init(firstName: first, lastName: last, email: email)
        if [first, last].contains(where: { ($0?.characterCount ?? 0) > Profile.longestName }) {
            dropped.append(Self.droppedName)
        }
        if let email, !email.isMailAddress {
            self.email = nil
            dropped.append(Self.droppedEmail)
        }
    }

    /// The names that `dropped` can contain.
    public static let droppableMembers = [droppedUser, droppedName, droppedEmail]
    private static let droppedUser = "user"
    private static let droppedName = "user.name"
    private static let droppedEmail = "user.email"

    /// The profile for an unreadable object.
    public static var unreadable: UserProfile {
        var profile = UserProfile()
        profile.dropped = [droppedUser]
        return profile
    }

    /// Reads a part of the name, as spelled by Apple (`firstName`), by Apple's frameworks (`givenName`) or by
    /// OpenID Connect (`given_name`). Uses the first spelling that contains a string.
    private static func read(
        _ name: String, _ value: JSONValue, _ first: inout String?, _ last: inout String?
    ) throws(Fault) {
        switch folded(name) {
        case "firstname", "givenname": if first == nil { first = try text(value, of: name) }
        case "lastname", "familyname": if last == nil { last = try text(value, of: name) }
        default: break
        }
    }

    /// Returns the canonical form of a member name, so that `given_name`, `givenName`, `GivenName` and
    /// `_givenName` are equal. A name that is longer than all known names is returned unchanged.
    private static func folded(_ name: String) -> String {
        name.utf8.count > 16 ? name : name.lowercased().filter { $0 != "_" }
    }

    /// Returns a member's text. Apple's own members must be strings; a member with another spelling can have
    /// any type, and is then ignored.
    private static func text(_ value: JSONValue, of name: String) throws(Fault) -> String? {
        switch value {
        case .null: return nil
        case .string(let text): return text.isEmpty ? nil : text
        case .bool, .integer, .number, .array, .object:
            if ["name", "firstName", "lastName", "email"].contains(name) { throw .malformed }
            return nil
        }
    }
}
