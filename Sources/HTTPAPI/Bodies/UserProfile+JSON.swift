import JOSE
import SignIn

extension UserProfile {
    /// Apple's own object, `{"name":{"firstName","lastName"},"email"}`, as the app got it.
    ///
    /// Members that are not known are let pass, because Apple may add some. Apple leaves names empty that the person
    /// removed; empty is absent. Throws `member_malformed`.
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

    /// Bytes. Nobody checks these names but us, and they are kept for good.
    private static let longestText = 1024
}
