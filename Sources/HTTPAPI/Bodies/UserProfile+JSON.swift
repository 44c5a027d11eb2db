import SignIn
import StrictJSON

extension UserProfile {
    /// Reads the member `user`: Apple's object, or its JSON text as Apple's form delivers it to a web page.
    ///
    /// Throws `member_malformed`, or `character_not_allowed` for a text with U+0000.
    init(posted value: JSONValue) throws(Problem) {
        switch value {
        case .object(let object): self = try UserProfile(object)
        case .string(let text): self = try UserProfile(Self.parse(text))
        default: throw Problem(.memberMalformed, subject: .member("user"))
        }
    }

    private static func parse(_ text: String) throws(Problem) -> JSONObject {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: Array(text.utf8))
        } catch {
            throw Problem(
                error.code == .characterNotAllowed ? .characterNotAllowed : .memberMalformed,
                subject: .member("user"))
        }
        guard let object = value.object else { throw Problem(.memberMalformed, subject: .member("user")) }
        return object
    }

    /// Reads Apple's own object, `{"name":{"firstName","lastName"},"email"}`, as the app received it.
    ///
    /// Unknown members are ignored, because Apple may add members. Apple sends an empty name when the user
    /// removed it; an empty name is absent. Throws `member_malformed`.
    init(_ object: JSONObject) throws(Problem) {
        let name = try Self.object(object["name"])
        self.init(
            firstName: try Self.text(name?["firstName"]), lastName: try Self.text(name?["lastName"]),
            email: try Self.text(object["email"]))
    }

    private static func object(_ value: JSONValue?) throws(Problem) -> JSONObject? {
        switch value {
        case nil, .null: return nil
        case .object(let object): return object
        default: throw Problem(.memberMalformed, subject: .member("user"))
        }
    }

    private static func text(_ value: JSONValue?) throws(Problem) -> String? {
        switch value {
        case nil, .null: return nil
        case .string(let text) where text.isEmpty: return nil
        case .string(let text) where text.utf8.count <= longestText: return text
        default: throw Problem(.memberMalformed, subject: .member("user"))
        }
    }

    /// Bound in bytes. Nothing else checks these names, and they are stored for as long as the account.
    private static let longestText = 1024
}

extension UserProfile {
    /// Reads the `user` field of Apple's form. Apple sends it once and does not sign it. A malformed field
    /// counts as absent, because the sign-in is valid without it.
    init?(unsigned text: String) {
        guard let object = try? JSONValue(parsing: Array(text.utf8)).object,
            let profile = try? UserProfile(object)
        else { return nil }
        self = profile
    }
}
